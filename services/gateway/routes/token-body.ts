import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { z } from "zod";
import { documentBody, optional, section } from "../jsonapi/body.ts";

/** Clients send an empty type here, and for a plain token no body at all. */
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

/** Converts the expiry of a body to the form of access. */
export const expiryOf = ({ data }: z.infer<typeof tokenBody>): { expiredAt?: Timestamp } => {
  const expiredAt = data.attributes["expired-at"];
  return expiredAt ? { expiredAt: timestampFromDate(new Date(expiredAt)) } : {};
};
