import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { z } from "zod";
import { documentBody, optional, section } from "../jsonapi/body.ts";
import { omitUndefined } from "../jsonapi/omit-undefined.ts";

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

/** Converts the attributes of a body to the fields of the access service's requests. */
export const tokenFields = ({
  data,
}: z.infer<typeof tokenBody>): { description?: string; expiredAt?: Timestamp } => {
  const { description, "expired-at": expiredAt } = data.attributes;
  return omitUndefined({
    description,
    expiredAt: expiredAt ? timestampFromDate(new Date(expiredAt)) : undefined,
  });
};
