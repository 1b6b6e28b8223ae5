import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { CreateUserTokenRequestSchema } from "@statehouse/proto/statehouse/access/v1/token";
import { z } from "zod";
import { documentBody, optional, section } from "../jsonapi/body.ts";
import { type FieldsOf, fieldsIn } from "../jsonapi/noun.ts";

/** The body that creates a token. Clients send an empty type; for a token without options they send no body. */
export const tokenBody = documentBody(
  z.object({
    type: optional(z.enum(["authentication-tokens", "authentication-token", ""])),
    attributes: section(
      fieldsIn<FieldsOf<typeof CreateUserTokenRequestSchema>>({
        description: { field: "description", in: z.string() },
        "expired-at": {
          field: "expiredAt",
          in: z.iso
            .datetime({ offset: true })
            .transform((text) => timestampFromDate(new Date(text))),
        },
      }),
    ),
  }),
).transform(({ data }) => data.attributes);
