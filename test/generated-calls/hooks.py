"""Hooks of schemathesis: replace generated ids and names by those of objects that exist, in most requests."""

import json
import os
import random

import schemathesis

with open(os.environ["STATEHOUSE_POOLS"], encoding="utf-8") as file:
    POOLS = json.load(file)
RANDOM = random.Random(int(os.environ["STATEHOUSE_SEED"]))

# For each type in request bodies, the path parameter whose values are ids of this type.
PARAMETERS = {
    "agent-pools": "agentPoolId",
    "organization-memberships": "membershipId",
    "organizations": "organizationName",
    "projects": "projectId",
    "ssh-keys": "sshKeyId",
    "state-versions": "stateVersionId",
    "tags": "tagId",
    "teams": "teamId",
    "users": "userId",
    "workspaces": "workspaceId",
}
QUERIES = {
    "filter[organization][name]": "organizationName",
    "filter[project][id]": "projectId",
    "filter[team]": "teamId",
    "filter[user]": "userId",
    "filter[workspace][id]": "workspaceId",
    "filter[workspace][name]": "name",
}


def mostly():
    """Returns true for most calls; otherwise a request keeps a generated id or name, which is unknown or invalid."""
    return RANDOM.random() < 0.8


def replaced(value):
    """Returns the JSON value with the ids of resources that exist, and with valid names and addresses."""
    if isinstance(value, list):
        return [replaced(item) for item in value]
    if not isinstance(value, dict):
        return value
    result = {name: replaced(member) for name, member in value.items()}
    pool = POOLS.get(PARAMETERS.get(str(value.get("type")), ""))
    if pool and isinstance(value.get("id"), str) and mostly():
        result["id"] = RANDOM.choice(pool)
    if isinstance(value.get("name"), str) and mostly():
        result["name"] = f"name-{RANDOM.randrange(10**9)}"
    if isinstance(value.get("email"), str) and mostly():
        result["email"] = f"user-{RANDOM.randrange(10**9)}@example.com"
    return result


@schemathesis.hook
def before_call(context, case, kwargs):
    for name in case.path_parameters or {}:
        if name in POOLS and mostly():
            case.path_parameters[name] = RANDOM.choice(POOLS[name])
    for name in case.query or {}:
        if name in QUERIES and mostly():
            case.query[name] = RANDOM.choice(POOLS[QUERIES[name]])
    if isinstance(case.body, (dict, list)):
        case.body = replaced(case.body)
