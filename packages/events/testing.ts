import { randomUUID } from "node:crypto";
import { create, type DescMessage, type MessageInitShape, toJsonString } from "@bufbuild/protobuf";
import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { jetstream } from "@nats-io/jetstream";
import { headers } from "@nats-io/transport-node";
import { connectNats, eventType } from "@statehouse/events";
import { newId } from "@statehouse/postgres/ids";
import {
  ConfigurationVersionReportedSchema,
  ReadmeReportedSchema,
  RunReportedSchema,
} from "@statehouse/proto/statehouse/runs/v1/events";

type Report<Schema extends DescMessage> = Omit<MessageInitShape<Schema>, "$typeName">;

/** An external runner: it executes runs elsewhere and publishes reports. */
export interface Runner extends AsyncDisposable {
  /** Reports a run and returns its id. */
  run(report: Report<typeof RunReportedSchema>): Promise<string>;
  configurationVersion(report: Report<typeof ConfigurationVersionReportedSchema>): Promise<string>;
  readme(report: Report<typeof ReadmeReportedSchema>): Promise<void>;
}

/** Whole seconds since the start of the runners. */
export const moment = (seconds: number): Timestamp =>
  timestampFromDate(new Date(Date.UTC(2026, 0, 1) + seconds * 1000));

/** A runner that publishes on this bus, as docs/runs.md says. */
export function startRunner(natsUrl: string): Runner {
  const nats = connectNats({ url: natsUrl, name: "runner" });
  const publish = async <Schema extends DescMessage>(
    schema: Schema,
    subject: string,
    report: Report<Schema>,
  ) => {
    const message = create(schema, report as MessageInitShape<Schema>);
    const type = eventType(schema);
    const head = headers();
    const id = randomUUID();
    head.set("Nats-Msg-Id", id);
    head.set("ce-specversion", "1.0");
    head.set("ce-id", id);
    head.set("ce-source", "runner");
    head.set("ce-type", type);
    head.set("ce-subject", subject);
    const stream = jetstream(await nats.connection());
    await stream.publish(type, toJsonString(schema, message), { headers: head });
  };
  return {
    async run(report) {
      const runId = report.runId ?? newId("run");
      const usual = { status: "pending", revision: 1n, createdAt: moment(0) };
      await publish(RunReportedSchema, runId, { ...usual, ...report, runId });
      return runId;
    },
    async configurationVersion(report) {
      const id = report.configurationVersionId ?? newId("cv");
      const usual = { status: "uploaded", revision: 1n, createdAt: moment(0) };
      await publish(ConfigurationVersionReportedSchema, id, {
        ...usual,
        ...report,
        configurationVersionId: id,
      });
      return id;
    },
    readme: (report) =>
      publish(ReadmeReportedSchema, report.workspaceId ?? "", { revision: 1n, ...report }),
    [Symbol.asyncDispose]: () => nats[Symbol.asyncDispose](),
  };
}
