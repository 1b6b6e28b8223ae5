import { openDirectoryStore } from "../objects/directory-store.ts";
import { useFullDisk } from "./full-disk.ts";

// A separate program, because its file size limit would also affect the process of the tests.
await using store = await openDirectoryStore(process.argv[2] ?? "");
process.stdout.write(JSON.stringify(await useFullDisk(store)));
