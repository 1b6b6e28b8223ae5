import { defaultProvider } from "@aws-sdk/credential-provider-node";
import { Credentials } from "minio/dist/esm/Credentials.mjs";

/** Returns the current credentials; temporary ones are renewed before they expire. */
export interface S3CredentialSource {
  getCredentials(): Promise<Credentials>;
}

/**
 * Returns the source of the credentials. If the settings contain keys, the source reads the keys again for every call.
 * Otherwise it returns the credentials that the AWS SDK finds, which the SDK caches until shortly before they expire.
 */
export function credentialSource(
  settings: Readonly<{ accessKey?: string | undefined; secretKey?: string | undefined }>,
): S3CredentialSource {
  const find = settings.accessKey === undefined ? defaultProvider() : undefined;
  return {
    async getCredentials() {
      if (!find) {
        const { accessKey = "", secretKey = "" } = settings;
        return new Credentials({ accessKey, secretKey });
      }
      const { accessKeyId: accessKey, secretAccessKey: secretKey, sessionToken } = await find();
      const token = sessionToken === undefined ? {} : { sessionToken };
      return new Credentials({ accessKey, secretKey, ...token });
    },
  };
}
