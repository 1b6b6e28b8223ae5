import { openDirectoryStore } from "../objects/directory-store.ts";
import { useFullDisk } from "./full-disk.ts";

// A program of its own, started under a limit that would hit everything else in the test's process, too.
await using store = await openDirectoryStore(process.argv[2] ?? "");
process.stdout.write(JSON.stringify(await useFullDisk(store)));
