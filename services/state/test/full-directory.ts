import { openDirectoryStore } from "../objects/directory-store.ts";
import { useFullDisk } from "./full-disk.ts";

// A separate program, started under a limit that would also affect everything else in the test's process.
await using store = await openDirectoryStore(process.argv[2] ?? "");
process.stdout.write(JSON.stringify(await useFullDisk(store)));
