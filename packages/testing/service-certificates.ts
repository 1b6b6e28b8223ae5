import { writeFile } from "node:fs/promises";
import path from "node:path";
import type { TlsFiles } from "@statehouse/rpc";
import { type Authority, newAuthority } from "./certificate.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** The authority and the certificates of one installation's services and runners, as files. */
export interface ServiceCertificates extends AsyncDisposable {
  readonly authority: Authority;
  /**
   * Issues a certificate and writes it to the files of `name`, replacing existing ones. By default, `authority` signs
   * it and it is valid for `name`.
   */
  issue(name: string, by?: Authority, names?: readonly string[]): Promise<TlsFiles>;
  /** Replaces the authorities that all services and runners trust. */
  trust(...authorities: readonly Authority[]): Promise<void>;
  filesOf(name: string): TlsFiles;
  settingsOf(name: string): {
    GRPC_TLS: "on";
    GRPC_CA_FILE: string;
    GRPC_CERT_FILE: string;
    GRPC_KEY_FILE: string;
  };
}

/** Creates an authority and issues a certificate for each name. */
export async function newServiceCertificates(
  ...names: readonly string[]
): Promise<ServiceCertificates> {
  await using starting = new AsyncDisposableStack();
  const folder = starting.use(await temporaryFolder()).path;
  const authority = await newAuthority();
  const filesOf = (name: string): TlsFiles => ({
    caFile: path.join(folder, "authorities.pem"),
    certFile: path.join(folder, `${name}.pem`),
    keyFile: path.join(folder, `${name}.key`),
  });
  const trust = (...authorities: readonly Authority[]) =>
    writeFile(
      path.join(folder, "authorities.pem"),
      authorities.map(({ certificate }) => `${certificate}\n`).join(""),
    );
  const issue = async (name: string, by = authority, certified: readonly string[] = [name]) => {
    const files = filesOf(name);
    const { certificate, privateKey } = await by.issue(...certified);
    await writeFile(files.certFile, certificate);
    await writeFile(files.keyFile, privateKey);
    return files;
  };
  await trust(authority);
  await Promise.all(names.map((name) => issue(name)));
  const owned = starting.move();
  return {
    authority,
    issue,
    trust,
    filesOf,
    settingsOf: (name) => ({
      GRPC_TLS: "on",
      GRPC_CA_FILE: filesOf(name).caFile,
      GRPC_CERT_FILE: filesOf(name).certFile,
      GRPC_KEY_FILE: filesOf(name).keyFile,
    }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
