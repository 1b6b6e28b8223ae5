import { X509Certificate } from "node:crypto";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { writePrivately } from "@statehouse/runtime";
import { readIfThere } from "./data-directory.ts";

/** The settings of one end of a connection. */
type Settings = Record<string, string>;

/** The mutual-TLS settings of both ends of RUNNER_PORT: the port and the runner. */
export interface RunnerTls {
  port: Readonly<Record<string, string | undefined>>;
  /**
   * Undefined if the operator provides the certificates, because the operator then also gives the runner a certificate.
   */
  runner: Settings | undefined;
}

const DAY_MS = 86_400_000;
const LIFETIME_DAYS = 365;
/** Certificates are replaced at a start if they expire within this number of days. */
const RENEWAL_DAYS = 60;

const runnerFolder = (dataDirectory: string) => path.join(dataDirectory, "runner");

/**
 * Returns the operator's mutual-TLS settings if there are any. Otherwise returns settings that name files in
 * `DATA_DIR/runner`: an authority, and a certificate for the server and one for the client. Creates these unless they
 * exist and are valid for long enough.
 */
export async function openRunnerTls(
  dataDirectory: string,
  settings: Readonly<Record<string, string | undefined>>,
): Promise<RunnerTls> {
  if (settings.GRPC_TLS === "off") return { port: settings, runner: { GRPC_TLS: "off" } };
  if (settings.GRPC_CA_FILE || settings.GRPC_CERT_FILE || settings.GRPC_KEY_FILE) {
    return { port: settings, runner: undefined };
  }
  const folder = runnerFolder(dataDirectory);
  const filesOf = (name: string): Settings => ({
    GRPC_CA_FILE: path.join(folder, "ca.pem"),
    GRPC_CERT_FILE: path.join(folder, `${name}.pem`),
    GRPC_KEY_FILE: path.join(folder, `${name}.key`),
  });
  const files = { port: filesOf("workspaces"), runner: filesOf("runner") };
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (!(await areValid([files.port, files.runner]))) await createCertificates(folder);
  return files;
}

/** Writes a runner's settings to `DATA_DIR/runner/settings.env`, and returns the path of that file. */
export async function writeRunnerSettings(
  dataDirectory: string,
  { address, key, tls }: { address: string; key: string; tls: Settings | undefined },
): Promise<string> {
  const folder = runnerFolder(dataDirectory);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const values = { WORKSPACES_ADDRESS: address, ASSERTION_PRIVATE_KEY: key, ...tls };
  const lines = Object.entries(values).map(([name, value]) => `${name}='${value}'\n`);
  const file = path.join(folder, "settings.env");
  await writePrivately(file, lines.join(""));
  return file;
}

async function areValid(files: readonly Settings[]): Promise<boolean> {
  const end = Date.now() + RENEWAL_DAYS * DAY_MS;
  const paths = files.flatMap((settings) => Object.values(settings));
  const texts = await Promise.all(paths.map(readIfThere));
  return texts.every(
    (text) =>
      text !== undefined &&
      (!text.includes("BEGIN CERTIFICATE") ||
        new X509Certificate(text).validToDate.getTime() > end),
  );
}

/**
 * Creates an authority and the certificates of both ends. A renewal creates all of them again, so the authority's key
 * is not stored.
 */
async function createCertificates(folder: string): Promise<void> {
  // The module is loaded on demand, because only this function and the command `keys` create certificates.
  const { issueCertificate, newAuthority } = await import("./certificates.ts");
  const now = new Date();
  const authority = await newAuthority(now);
  await writePrivately(path.join(folder, "ca.pem"), authority.certificate);
  for (const name of ["workspaces", "runner"]) {
    const issued = await issueCertificate(authority, name, { now, days: LIFETIME_DAYS });
    // The certificate is written after its key, so that an existing certificate always has a key.
    await writePrivately(path.join(folder, `${name}.key`), issued.privateKey);
    await writePrivately(path.join(folder, `${name}.pem`), issued.certificate);
  }
}
