import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { type ChannelCredentials, experimental, type ServerCredentials } from "@grpc/grpc-js";
import { type FollowedFiles, followFiles, StartError } from "@statehouse/runtime";

/** The PEM files of mutual TLS. */
export interface TlsFiles {
  /** The authorities that sign the certificates of all services. */
  caFile: string;
  /** The certificate of this service, whose DNS names contain the service's name. */
  certFile: string;
  /** The private key of the certificate in `certFile`. */
  keyFile: string;
}

/** Mutual TLS of one service: both ends of a connection present a certificate that the authorities signed. */
export interface GrpcTls extends FollowedFiles {
  readonly server: ServerCredentials;
  readonly channel: ChannelCredentials;
  /** Returns the earliest expiry of the certificates in the service's file, and of those in the authorities' file. */
  expiries(): { service: Date; authority: Date };
}

interface Pems {
  caCertificate: Buffer;
  certificate: Buffer;
  privateKey: Buffer;
}

/**
 * Reads the files. When they change, `check` reads them again, and new connections use the new contents. Contents that
 * do not belong together are not used. Throws StartError if the files cannot be used at the start.
 */
export function openGrpcTls(files: TlsFiles): GrpcTls {
  const named = [
    { name: "GRPC_CA_FILE", file: files.caFile },
    { name: "GRPC_CERT_FILE", file: files.certFile },
    { name: "GRPC_KEY_FILE", file: files.keyFile },
  ];
  let pems: Pems;
  try {
    pems = verified(named.map(({ file }) => readFileSync(file)));
  } catch (error) {
    throw new StartError(unusable(error));
  }
  const caListeners = new Set<experimental.CaCertificateUpdateListener>();
  const identityListeners = new Set<experimental.IdentityCertificateUpdateListener>();
  const provider: experimental.CertificateProvider = {
    addCaCertificateListener(listener) {
      caListeners.add(listener);
      // The listener is called later, because grpc-js registers its own watcher only after this call.
      process.nextTick(() => listener(pems));
    },
    removeCaCertificateListener: (listener) => void caListeners.delete(listener),
    addIdentityCertificateListener(listener) {
      identityListeners.add(listener);
      process.nextTick(() => listener(pems));
    },
    removeIdentityCertificateListener: (listener) => void identityListeners.delete(listener),
  };
  const { check } = followFiles(named, (contents, renewed) => {
    try {
      pems = verified(named.map(({ name }) => Buffer.from(contents.get(name) ?? "")));
    } catch (error) {
      return { problems: [unusable(error)] };
    }
    for (const listener of identityListeners) listener(pems);
    for (const listener of caListeners) listener(pems);
    return { renewed, needRestart: [] };
  });
  return {
    server: experimental.createCertificateProviderServerCredentials(provider, provider, true),
    channel: experimental.createCertificateProviderChannelCredentials(provider, provider),
    check,
    expiries: () => ({
      service: firstExpiry(pems.certificate),
      authority: firstExpiry(pems.caCertificate),
    }),
  };
}

const unusable = (error: unknown) =>
  `The TLS files of gRPC cannot be used: ${error instanceof Error ? error.message : error}.`;

/** Throws if a file is not PEM, or if certificate and key do not belong together. */
function verified(files: readonly Buffer[]): Pems {
  const [caCertificate, certificate, privateKey] = files;
  if (!caCertificate || !certificate || !privateKey) throw new Error("a file is missing");
  createSecureContext({ ca: caCertificate, cert: certificate, key: privateKey });
  // Throws if the authority's certificate cannot be parsed; a secure context would ignore such a certificate.
  new X509Certificate(caCertificate);
  return { caCertificate, certificate, privateKey };
}

/** Returns the earliest expiry of the certificates in a PEM file. */
function firstExpiry(pem: Buffer): Date {
  const certificates = pem
    .toString()
    .match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g);
  const times = (certificates ?? []).map((text) => new X509Certificate(text).validToDate.getTime());
  return new Date(Math.min(...times));
}

/** Returns the DNS names of a certificate, which name the services that may use it. */
export function namesOf(subjectAltName: string | undefined): readonly string[] {
  // Node puts names with special characters in quotes, because such names can contain the separators. No service has
  // such a name.
  if (!subjectAltName || subjectAltName.includes('"')) return [];
  return subjectAltName.split(", ").flatMap((name) => {
    const [kind, value] = name.split(":");
    return kind === "DNS" && value ? [value] : [];
  });
}
