import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { CreateUserTokenRequestSchema } from "@statehouse/proto/statehouse/access/v1/token";
import { z } from "zod";
import { documentBody, section, uncheckedTypeOf } from "../jsonapi/body.ts";
import { type FieldsOf, fieldsIn } from "../jsonapi/noun.ts";

/** The body that creates a token. For a token without options, clients send no body. */
export const tokenBody = documentBody(
  z.object({
    type: uncheckedTypeOf("authentication-tokens"),
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
