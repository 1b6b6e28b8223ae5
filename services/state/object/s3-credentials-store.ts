import { defaultProvider } from "@aws-sdk/credential-provider-node";

/** Returns the current credentials; temporary ones are renewed before they expire. */
export type S3CredentialSource = () => Promise<{
  accessKey: string;
  secretKey: string;
  sessionToken?: string;
}>;

/**
 * Returns the source of the credentials. If the settings contain keys, the source reads the keys again for every call.
 * Otherwise it returns the credentials that the AWS SDK finds, which the SDK caches until shortly before they expire.
 */
export function credentialSource(
  settings: Readonly<{ accessKey?: string | undefined; secretKey?: string | undefined }>,
): S3CredentialSource {
  if (settings.accessKey !== undefined) {
    return async () => ({
      accessKey: settings.accessKey ?? "",
      secretKey: settings.secretKey ?? "",
    });
  }
  const find = defaultProvider();
  return async () => {
    const { accessKeyId, secretAccessKey, sessionToken } = await find();
    return {
      accessKey: accessKeyId,
      secretKey: secretAccessKey,
      ...(sessionToken === undefined ? {} : { sessionToken }),
    };
  };
}

/**
 * The option of the minio client that makes it request the credentials for each call. Its declared type is a class that
 * the package does not export.
 */
export const sourcedCredentials = (source: S3CredentialSource) => ({
  credentialsProvider: {
    async getCredentials() {
      const { accessKey, secretKey, sessionToken } = await source();
      return {
        getAccessKey: () => accessKey,
        getSecretKey: () => secretKey,
        getSessionToken: () => sessionToken,
      };
    },
  },
});
