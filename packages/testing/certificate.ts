import "reflect-metadata";
import { KeyObject, webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";

/** A certificate authority for one test. All values are PEM. */
export interface Authority {
  readonly certificate: string;
  /** Issues a server certificate for `names`, which are DNS names and IP addresses; returns it with its private key. */
  issue(...names: readonly string[]): Promise<{ certificate: string; privateKey: string }>;
}

const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * Creates an authority, which takes a few milliseconds. Only clients that are configured with its certificate trust it.
 * Its own certificate and those that it issues are valid for `days` days.
 */
export async function newAuthority({ days = 30 } = {}): Promise<Authority> {
  const validity = () => ({
    signingAlgorithm: algorithm,
    notBefore: new Date(Date.now() - HOUR_MS),
    notAfter: new Date(Date.now() + days * DAY_MS),
  });
  x509.cryptoProvider.set(webcrypto);
  const keys = await newKeys();
  const name = "CN=Statehouse tests";
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity(),
    name,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return {
    certificate: root.toString("pem"),
    async issue(...names) {
      const own = await newKeys();
      const certificate = await x509.X509CertificateGenerator.create({
        ...validity(),
        subject: "CN=statehouse.test",
        issuer: name,
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        extensions: [
          new x509.SubjectAlternativeNameExtension(
            names.map((value) => ({ type: /^[\d.]+$/.test(value) ? "ip" : "dns", value })),
          ),
          await x509.AuthorityKeyIdentifierExtension.create(keys.publicKey),
        ],
      });
      const privateKey = KeyObject.from(own.privateKey).export({ type: "pkcs8", format: "pem" });
      return { certificate: certificate.toString("pem"), privateKey: privateKey.toString() };
    },
  };
}

const newKeys = () => webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
