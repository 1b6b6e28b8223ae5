import { openDirectoryStore } from "../object/directory-store.ts";
import { useFullDisk } from "./full-disk.ts";

// This is a separate program, because a file size limit of the tests' own process would affect all tests in it.
await using store = await openDirectoryStore(process.argv[2] ?? "");
process.stdout.write(JSON.stringify(await useFullDisk(store)));
