import type { JsonValue } from "@bufbuild/protobuf";
import { unusableReport } from "../domain/errors.ts";

/** A report as it is kept. Throws `invalid` on what PostgreSQL cannot keep. */
export function jsonOf(report: JsonValue): object {
  if (typeof report !== "object" || report === null) throw unusableReport("report");
  if (JSON.stringify(report).includes("\\u0000")) throw unusableReport("text");
  return report;
}
