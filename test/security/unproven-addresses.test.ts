import { waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { newOrganization, unusedName } from "../stack/organization.ts";
import { mailSender } from "../stack/published.ts";
import { expectStatus } from "../stack/state.ts";
import { type ApiUser, newUser, useFixture } from "../system/fixture.ts";

const fixture = useFixture();

const unusedAddress = () => `${unusedName("somebody")}@example.com`;

const setAddress = (user: ApiUser, email: string) =>
  user.api.patch("/account/update", document("users", { email }));

/**
 * Invites an email address to an organization of `owner`. Returns the ids of the membership and of the invited user,
 * and the invitation mail.
 */
async function invite(owner: ApiUser, organization: string, email: string) {
  await using mails = mailSender(fixture().stack.nats);
  const path = `/organizations/${organization}/organization-memberships`;
  const body = document("organization-memberships", { email });
  const invited = await expectStatus(201, owner.api.post(path, body));
  const { id } = invited.body.data;
  const mail = await waitFor(async () =>
    mails.messages.find((message) => message.organizationMembershipId === id),
  );
  return { id: String(id), userId: invited.body.data.relationships.user.data.id, mail };
}

const accept = (user: ApiUser, id: string, secret?: string) =>
  user.api.post(
    `/organization-memberships/${id}/actions/accept`,
    secret === undefined ? undefined : document("organization-memberships", { secret }),
  );

test("a change of its address does not reveal to a user whether another user has it", async () => {
  proves("Isolation/invitations");
  const { owner, stack, organization } = fixture();
  const [carol, known] = [await newUser(stack), await newUser(stack)];
  const invited = unusedAddress();
  await invite(owner, organization, invited);
  const answers: string[] = [];
  for (const email of [`${known.username}@example.com`, invited, unusedAddress()]) {
    const { status, body } = await setAddress(carol, email);
    answers.push(`${status} ${JSON.stringify(body).replaceAll(email, "<email>")}`);
  }
  expect(new Set(answers).size).toBe(1);
  expect(answers[0]).toMatch(/^200 .*"unconfirmed-email":"<email>"/);
  const { attributes } = (await carol.api.get("/account/details")).body.data;
  expect(attributes.email).toBe(`${carol.username}@example.com`);
});

test("an address that a user claims matches no invitation", async () => {
  const { owner, stack, organization } = fixture();
  const [carol, administrator] = [
    await newUser(stack),
    await newUser(stack, { administrator: true }),
  ];
  const email = unusedAddress();
  expect((await setAddress(carol, email)).status).toBe(200);
  const { id, userId } = await invite(owner, organization, email);
  expect(userId).not.toBe(carol.id);
  expect((await accept(carol, id)).status).toBe(404);
  expect((await accept(carol, id, "guessed")).status).toBe(404);
  expect((await carol.api.get(`/organization-memberships/${id}`)).status).toBe(404);
  // The address remains free for its owner.
  const user = document("users", { username: unusedName("ceo"), email });
  const created = await expectStatus(201, administrator.api.post("/admin/users", user));
  expect(created.body.data.id).toBe(userId);
});

test("the secret of an invitation's mail proves the address to its claimant only", async () => {
  const { owner, outsider, stack, organization } = fixture();
  const [dave, thief] = [await newUser(stack), await newUser(stack)];
  const email = unusedAddress();
  const elsewhere = await newOrganization(outsider.api);
  const first = await invite(owner, organization, email);
  const second = await invite(outsider, elsewhere, email.toUpperCase());
  const secret = String(first.mail.secret);
  expect((await accept(thief, first.id, secret)).status).toBe(404);
  expect((await accept(dave, first.id, secret)).status).toBe(404);
  await expectStatus(200, setAddress(dave, email));
  expect((await accept(dave, first.id)).status).toBe(404);
  expect((await accept(dave, second.id, secret)).status).toBe(404);

  const accepted = await expectStatus(200, accept(dave, first.id, secret));
  expect(accepted.body.data.relationships.user.data.id).toBe(dave.id);
  const { attributes } = (await dave.api.get("/account/details")).body.data;
  expect(attributes).toMatchObject({ email, "unconfirmed-email": null });
  expect((await dave.api.get(`/organizations/${organization}`)).status).toBe(200);
  // Every invitation of the address now belongs to this user, who must still accept each invitation.
  expect((await dave.api.get(`/organizations/${elsewhere}`)).status).toBe(404);
  expect((await accept(dave, second.id)).status).toBe(200);
  expect((await dave.api.get(`/organizations/${elsewhere}`)).status).toBe(200);
  // The secret cannot be used a second time.
  await expectStatus(200, setAddress(thief, email));
  expect((await accept(thief, first.id, secret)).status).toBe(404);
});
