import "reflect-metadata";
import { KeyObject, webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";

/** A certificate and its key, both PEM. */
export interface Issued {
  createdAt: string;
  certificate: string;
  privateKey: string;
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const DAY_MS = 86_400_000;
const AUTHORITY_DAYS = 3650;
/** How long before its issue a certificate becomes valid, in ms, because the clocks of services can differ. */
const EARLIER_MS = 3_600_000;

const newKeys = () => webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);

const validity = (now: Date, days: number) => ({
  signingAlgorithm: algorithm,
  notBefore: new Date(now.getTime() - EARLIER_MS),
  notAfter: new Date(now.getTime() + days * DAY_MS),
});

const issued = (
  now: Date,
  certificate: x509.X509Certificate,
  key: webcrypto.CryptoKey,
): Issued => ({
  createdAt: now.toISOString(),
  certificate: `${certificate.toString("pem")}\n`,
  privateKey: KeyObject.from(key).export({ type: "pkcs8", format: "pem" }).toString(),
});

/** Creates an authority that issues the certificates of the services of one installation. */
export async function newAuthority(now: Date): Promise<Issued> {
  x509.cryptoProvider.set(webcrypto);
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity(now, AUTHORITY_DAYS),
    // The name contains the time, because two authorities with the same name would be confused while one replaces the
    // other.
    name: `CN=Statehouse services ${now.toISOString()}`,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return issued(now, certificate, keys.privateKey);
}

/** Issues a certificate with which the service or runner `name` can act as a server and as a client. */
export async function issueCertificate(
  authority: Issued,
  name: string,
  { now, days }: { now: Date; days: number },
): Promise<Issued> {
  x509.cryptoProvider.set(webcrypto);
  const issuer = new x509.X509Certificate(authority.certificate);
  const signingKey = await webcrypto.subtle.importKey(
    "pkcs8",
    x509.PemConverter.decodeFirst(authority.privateKey),
    algorithm,
    false,
    ["sign"],
  );
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.create({
    ...validity(now, days),
    subject: `CN=${name}`,
    issuer: issuer.subject,
    publicKey: keys.publicKey,
    signingKey,
    extensions: [
      new x509.BasicConstraintsExtension(false),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([
        x509.ExtendedKeyUsage.serverAuth,
        x509.ExtendedKeyUsage.clientAuth,
      ]),
      new x509.SubjectAlternativeNameExtension([{ type: "dns", value: name }]),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  return issued(now, certificate, keys.privateKey);
}
