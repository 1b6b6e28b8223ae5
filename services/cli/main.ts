import { runCommand, StartError } from "@statehouse/runtime";
import { asksForHelp, commands, helpOf, usage } from "./commands.ts";

// Usage: statehouse <command> [arguments]
const [name = "help", ...args] = process.argv.slice(2);
const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
if (command && asksForHelp(args)) process.stdout.write(await helpOf(name, command, args));
else if (command) await command.run(args);
else if (["help", "--help", "-h"].includes(name)) process.stdout.write(usage());
else {
  await runCommand(name, async () => {
    throw new StartError(`Command '${name}' is unknown.\n\n${usage()}`);
  });
}
