import { configSchema as access } from "@statehouse/access/config";
import { configSchema as gateway } from "@statehouse/gateway/config";
import { migrationSettings } from "@statehouse/service";
import { configSchema as state } from "@statehouse/state/config";
import { configSchema as workspaces } from "@statehouse/workspaces/config";
import { z } from "zod";

export const services = ["gateway", "access", "workspaces", "state"] as const;
export type ServiceName = (typeof services)[number];

/**
 * The commands whose settings are values of the chart. `migrate` has settings of its own, in addition to those of its
 * service.
 */
export type CommandName = ServiceName | "migrate";

const migrate = migrationSettings.omit({ DATABASE_URL: true });
const configs: Record<CommandName, z.ZodObject> = { gateway, access, workspaces, state, migrate };

/** The properties of a setting that the chart's templates need. */
export interface Declaration {
  description: string;
  default?: string | number | boolean;
  required?: true;
  /** The value is secret and must not be in the values of a release. */
  secret?: true;
  /** The value is the path of a file. */
  file?: true;
  neededWith?: Readonly<Record<string, string>>;
}

const secrets = new Set([
  "DATABASE_URL",
  "MIGRATE_DATABASE_URL",
  "NATS_PASSWORD",
  "NATS_TOKEN",
  "NATS_NKEY_SEED",
  "NATS_CREDENTIALS",
  "ASSERTION_PRIVATE_KEY",
  "UPLOAD_TOKEN_KEYS",
  "SEALING_KEYS",
  "S3_ACCESS_KEY",
  "S3_SECRET_KEY",
]);

const publicNames = new Set(["ASSERTION_PUBLIC_KEYS", "S3_CREDENTIALS", "S3_KMS_KEY_ID"]);

const LOOKS_SECRET = /KEY|PASSWORD|SECRET|SEED|CREDENTIAL|DATABASE_URL|TOKEN$/;

const shapeOf = (service: CommandName): Readonly<Record<string, z.ZodType>> =>
  configs[service].shape as Readonly<Record<string, z.ZodType>>;

type JsonSchema = Record<string, unknown>;

const jsonSchemaOf = (field: z.ZodType, io: "input" | "output"): JsonSchema =>
  z.toJSONSchema(field, { io, unrepresentable: "any", target: "draft-7" });

/** Returns the settings of a service or command by name. Throws if it cannot decide whether a setting is a secret. */
export function declaredSettings(service: CommandName): Record<string, Declaration> {
  return Object.fromEntries(
    Object.entries(shapeOf(service)).map(([name, field]) => {
      const file = name.endsWith("_FILE");
      if (!file && LOOKS_SECRET.test(name) && !secrets.has(name) && !publicNames.has(name)) {
        throw new Error(
          `${name}: decide in test/chart/declared-settings.ts whether it is a secret.`,
        );
      }
      const { default: byDefault } = jsonSchemaOf(field, "output");
      const scalar = ["string", "number", "boolean"].includes(typeof byDefault);
      const neededWith = field.meta()?.neededWith as Declaration["neededWith"];
      const declaration: Declaration = {
        description: field.description ?? "",
        ...(scalar ? { default: byDefault as string } : {}),
        ...(field.safeParse(undefined).success ? {} : { required: true as const }),
        ...(secrets.has(name) ? { secret: true as const } : {}),
        ...(file ? { file: true as const } : {}),
        ...(neededWith ? { neededWith } : {}),
      };
      return [name, declaration];
    }),
  );
}

/** Returns the JSON Schema of a setting in the values of the chart. */
function valueSchema(name: string, field: z.ZodType): JsonSchema {
  const description = field.description ?? "";
  if (secrets.has(name)) return { description: `A secret: settingsFrom.${name}. ${description}` };
  const {
    type,
    enum: values,
    pattern,
    minimum,
    maximum,
    exclusiveMinimum,
    format,
  } = jsonSchemaOf(field, "input");
  if (jsonSchemaOf(field, "output").type === "boolean")
    return { description, type: ["boolean", "null"] };
  // `null` removes a value that another values file has set.
  if (Array.isArray(values)) return { description, enum: [...values, null] };
  return {
    description,
    type: [type, "null"],
    ...(pattern ? { pattern } : {}),
    ...(format === "uri" ? { pattern: "^https?://[^/]" } : {}),
    // With port 0, a service chooses a free port, which a Kubernetes Service could not refer to.
    ...(name.endsWith("PORT") ? { minimum: 1 } : minimum === undefined ? {} : { minimum }),
    ...(exclusiveMinimum === undefined ? {} : { exclusiveMinimum }),
    ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? {} : { maximum }),
  };
}

/**
 * Ports. They cannot be set for all services at once: the templates read them only from the settings of one service.
 */
const ownOnly = new Set(["PORT", "GRPC_PORT", "OBJECT_PORT", "OPS_PORT"]);

/** The schemas of the settings of one service. */
export const settingSchemas = (service: CommandName): Record<string, JsonSchema> =>
  Object.fromEntries(
    Object.entries(shapeOf(service)).map(([name, field]) => [name, valueSchema(name, field)]),
  );

/** The schemas of the settings that can be set for all services at once. */
export const sharedSettingSchemas = (): Record<string, JsonSchema> =>
  Object.fromEntries(
    services
      .flatMap((service) => Object.entries(settingSchemas(service)))
      .filter(([name]) => !ownOnly.has(name))
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );
