import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { z } from "zod";
import { documentBody, optional, section } from "../jsonapi/body.ts";

/** The body that creates a token. Clients send an empty type; for a token without options they send no body. */
export const tokenBody = documentBody(
  z.object({
    type: optional(z.enum(["authentication-tokens", "authentication-token", ""])),
    attributes: section(
      z.object({
        description: optional(z.string()),
        "expired-at": optional(z.iso.datetime({ offset: true })),
      }),
    ),
  }),
);

/** Converts the expiry time of a body to the field of the access service's request. */
export const expiryOf = ({ data }: z.infer<typeof tokenBody>): { expiredAt?: Timestamp } => {
  const expiredAt = data.attributes["expired-at"];
  return expiredAt ? { expiredAt: timestampFromDate(new Date(expiredAt)) } : {};
};
