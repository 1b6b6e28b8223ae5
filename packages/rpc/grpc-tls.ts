import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { type ChannelCredentials, experimental, type ServerCredentials } from "@grpc/grpc-js";
import { type Logger, StartError } from "@statehouse/runtime";

/** The PEM files of mutual TLS. */
export interface TlsFiles {
  /** The authorities that sign the certificates of all services. */
  caFile: string;
  /** The certificate of this service, whose DNS names contain the service's name. */
  certFile: string;
  /** The private key of that certificate. */
  keyFile: string;
}

/** Mutual TLS of one service: both ends of a connection present a certificate that the authorities signed. */
export interface GrpcTls extends Disposable {
  readonly server: ServerCredentials;
  readonly channel: ChannelCredentials;
}

interface Pems {
  caCertificate: Buffer;
  certificate: Buffer;
  privateKey: Buffer;
}

const RELOAD_MS = 1000;

/**
 * Reads the files now and whenever they change: new connections use the new content. Files that do not fit together,
 * as while they are being replaced, are not used. Throws StartError if they cannot be used at the start.
 */
export function openGrpcTls(files: TlsFiles, { logger }: { logger: Logger }): GrpcTls {
  let pems = readPems(files);
  const caListeners = new Set<experimental.CaCertificateUpdateListener>();
  const identityListeners = new Set<experimental.IdentityCertificateUpdateListener>();
  const provider: experimental.CertificateProvider = {
    addCaCertificateListener(listener) {
      caListeners.add(listener);
      // grpc-js registers its own watcher after this call.
      process.nextTick(() => listener(pems));
    },
    removeCaCertificateListener: (listener) => void caListeners.delete(listener),
    addIdentityCertificateListener(listener) {
      identityListeners.add(listener);
      process.nextTick(() => listener(pems));
    },
    removeIdentityCertificateListener: (listener) => void identityListeners.delete(listener),
  };
  let failing = false;
  const reload = async () => {
    try {
      const [caCertificate, certificate, privateKey] = await Promise.all(
        pathsOf(files).map((file) => readFile(file)),
      );
      const next = pemsOf(caCertificate, certificate, privateKey);
      if (!isSame(pems, next)) {
        verify(next);
        pems = next;
        for (const listener of identityListeners) listener(pems);
        for (const listener of caListeners) listener(pems);
        logger.info("gRPC certificates reloaded");
      }
      failing = false;
    } catch (error) {
      if (!failing) logger.warn({ err: error }, "gRPC certificates not reloaded");
      failing = true;
    }
  };
  const timer = setInterval(() => void reload(), RELOAD_MS).unref();
  return {
    server: experimental.createCertificateProviderServerCredentials(provider, provider, true),
    channel: experimental.createCertificateProviderChannelCredentials(provider, provider),
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

const pathsOf = ({ caFile, certFile, keyFile }: TlsFiles) => [caFile, certFile, keyFile] as const;

const pemsOf = (
  caCertificate = Buffer.alloc(0),
  certificate = Buffer.alloc(0),
  privateKey = Buffer.alloc(0),
): Pems => ({ caCertificate, certificate, privateKey });

function readPems(files: TlsFiles): Pems {
  try {
    const pems = pemsOf(...pathsOf(files).map((file) => readFileSync(file)));
    verify(pems);
    return pems;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartError(`The TLS files of gRPC cannot be used: ${reason}.`);
  }
}

/** Throws if a file is not PEM, or if certificate and key do not belong together. */
function verify({ caCertificate, certificate, privateKey }: Pems): void {
  createSecureContext({ ca: caCertificate, cert: certificate, key: privateKey });
  // A secure context ignores authorities that it cannot read.
  new X509Certificate(caCertificate);
}

const isSame = (one: Pems, other: Pems): boolean =>
  one.caCertificate.equals(other.caCertificate) &&
  one.certificate.equals(other.certificate) &&
  one.privateKey.equals(other.privateKey);

/** Returns the DNS names of a certificate, which name the services that may use it. */
export function namesOf(subjectAltName: string | undefined): readonly string[] {
  // Node quotes names with special characters, which could contain the separators; no service has such a name.
  if (!subjectAltName || subjectAltName.includes('"')) return [];
  return subjectAltName.split(", ").flatMap((name) => {
    const [kind, value] = name.split(":");
    return kind === "DNS" && value ? [value] : [];
  });
}
