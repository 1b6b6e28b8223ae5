// Walks the API with the published Go client, as programs of users do. It is run by ../go-tfe.test.ts with the variables
// that the client reads itself, TFE_ADDRESS and TFE_TOKEN, and prints one line for each step that succeeded.
package main

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	tfe "github.com/hashicorp/go-tfe"
	"github.com/hashicorp/jsonapi"
)

const state = `{"version":4,"terraform_version":"1.11.0","serial":1,"lineage":"9f6a1b1c-5a3e-4a55-9d0c-1d2f3a4b5c6d",` +
	`"outputs":{"region":{"value":"eu-1","type":"string"}},"resources":[],"check_results":null}`

func main() {
	run := walk
	if len(os.Args) > 1 && os.Args[1] == "burst" {
		run = burst
	}
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func walk(ctx context.Context) error {
	config := tfe.DefaultConfig()
	config.RetryServerErrors = false
	client, err := tfe.NewClient(config)
	if err != nil {
		return err
	}
	w := &walker{ctx: ctx, client: client, name: fmt.Sprintf("go-tfe-%d", time.Now().UnixNano())}
	steps := []struct {
		name string
		run  func() error
	}{
		{"organization", w.organization},
		{"project", w.project},
		{"workspace", w.workspace},
		{"tags", w.tags},
		{"lock", w.lock},
		{"state", w.state},
		{"outputs", w.outputs},
		{"team", w.team},
		{"team access", w.teamAccess},
		{"team tokens", w.teamTokens},
		{"user tokens", w.userTokens},
		{"organization token", w.organizationToken},
		{"audit trail", w.auditTrail},
		{"memberships", w.memberships},
		{"ssh keys", w.sshKeys},
		{"agent pools", w.agentPools},
		{"deletion", w.deletion},
	}
	for _, step := range steps {
		if err := step.run(); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Println(step.name)
	}
	return nil
}

// burst sends requests as fast as the client allows, and prints how many the server refused because of its rate limit.
// The client derives its pace from the headers of the response to its first request.
func burst(ctx context.Context) error {
	refused := &counter{}
	config := tfe.DefaultConfig()
	config.HTTPClient = &http.Client{Transport: refused}
	client, err := tfe.NewClient(config)
	if err != nil {
		return err
	}
	var group sync.WaitGroup
	failures := make(chan error, 90)
	for range 90 {
		group.Go(func() {
			if _, err := client.Users.ReadCurrent(ctx); err != nil {
				failures <- err
			}
		})
	}
	group.Wait()
	close(failures)
	if err := <-failures; err != nil {
		return err
	}
	fmt.Printf("%d refused\n", refused.count.Load())
	return nil
}

// counter counts responses with status 429.
type counter struct{ count atomic.Int64 }

func (c *counter) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(request)
	if err == nil && response.StatusCode == http.StatusTooManyRequests {
		c.count.Add(1)
	}
	return response, err
}

type walker struct {
	ctx    context.Context
	client *tfe.Client
	name   string

	projectID   string
	workspaceID string
	teamID      string
}

// expect returns an error unless the value that the server returned equals the expected one.
func expect[T comparable](what string, got, want T) error {
	if got != want {
		return fmt.Errorf("%s is %v, expected %v", what, got, want)
	}
	return nil
}

func (w *walker) organization() error {
	made, err := w.client.Organizations.Create(w.ctx, tfe.OrganizationCreateOptions{
		Name:  tfe.String(w.name),
		Email: tfe.String("walker@example.com"),
	})
	if err != nil {
		return err
	}
	if _, err := w.client.Organizations.Update(w.ctx, made.Name, tfe.OrganizationUpdateOptions{
		CollaboratorAuthPolicy: tfe.AuthPolicy(tfe.AuthPolicyPassword),
	}); err != nil {
		return err
	}
	found, err := w.client.Organizations.List(w.ctx, &tfe.OrganizationListOptions{Query: w.name})
	if err != nil {
		return err
	}
	if err := expect("organizations found", len(found.Items), 1); err != nil {
		return err
	}
	entitlements, err := w.client.Organizations.ReadEntitlements(w.ctx, w.name)
	if err != nil {
		return err
	}
	return expect("state storage", entitlements.StateStorage, true)
}

func (w *walker) project() error {
	made, err := w.client.Projects.Create(w.ctx, w.name, tfe.ProjectCreateOptions{
		Name:        "network",
		Description: tfe.String("The network"),

		AutoDestroyActivityDuration: jsonapi.NewNullableAttrWithValue("3d"),
	})
	if err != nil {
		return err
	}
	w.projectID = made.ID
	duration, err := made.AutoDestroyActivityDuration.Get()
	if err != nil {
		return err
	}
	if err := expect("auto-destroy duration of the project", duration, "3d"); err != nil {
		return err
	}
	if _, err := w.client.Projects.Update(w.ctx, made.ID, tfe.ProjectUpdateOptions{
		Name: tfe.String("networks"),
		SettingOverwrites: &tfe.ProjectSettingOverwrites{
			ExecutionMode: tfe.Bool(false),
			AgentPool:     tfe.Bool(false),
		},
	}); err != nil {
		return err
	}
	listed, err := w.client.Projects.List(w.ctx, w.name, &tfe.ProjectListOptions{Name: "NETWORKS"})
	if err != nil {
		return err
	}
	return expect("projects found", len(listed.Items), 1)
}

func (w *walker) workspace() error {
	made, err := w.client.Workspaces.Create(w.ctx, w.name, tfe.WorkspaceCreateOptions{
		Name:             tfe.String("production"),
		Project:          &tfe.Project{ID: w.projectID},
		AutoApply:        tfe.Bool(true),
		TerraformVersion: tfe.String("1.11.0"),
		TriggerPrefixes:  []string{"modules"},
	})
	if err != nil {
		return err
	}
	w.workspaceID = made.ID
	// Sends the settings in the same way as the `tfe` configuration provider.
	updated, err := w.client.Workspaces.UpdateByID(w.ctx, made.ID, tfe.WorkspaceUpdateOptions{
		ExecutionMode: tfe.String("remote"),
		SettingOverwrites: &tfe.WorkspaceSettingOverwritesOptions{
			ExecutionMode: tfe.Bool(false),
			AgentPool:     tfe.Bool(false),
		},
	})
	if err != nil {
		return err
	}
	if err := expect("execution mode", updated.ExecutionMode, "local"); err != nil {
		return err
	}
	inherited, err := updated.AutoDestroyActivityDuration.Get()
	if err != nil {
		return err
	}
	if err := expect("inherited auto-destroy duration", inherited, "3d"); err != nil {
		return err
	}
	read, err := w.client.Workspaces.ReadWithOptions(w.ctx, w.name, "production", &tfe.WorkspaceReadOptions{
		Include: []tfe.WSIncludeOpt{tfe.WSOrganization, tfe.WSProject},
	})
	if err != nil {
		return err
	}
	if err := expect("included project", read.Project.Name, "networks"); err != nil {
		return err
	}
	_, err = w.client.Workspaces.ReadByID(w.ctx, "ws-0000000000000000")
	if !errors.Is(err, tfe.ErrResourceNotFound) {
		return fmt.Errorf("an unknown workspace is %w, expected not found", err)
	}
	return nil
}

func (w *walker) tags() error {
	if _, err := w.client.Workspaces.AddTagBindings(w.ctx, w.workspaceID, tfe.WorkspaceAddTagBindingsOptions{
		TagBindings: []*tfe.TagBinding{{Key: "team", Value: "network"}, {Key: "flat"}},
	}); err != nil {
		return err
	}
	bindings, err := w.client.Workspaces.ListTagBindings(w.ctx, w.workspaceID)
	if err != nil {
		return err
	}
	if err := expect("tag bindings", len(bindings), 2); err != nil {
		return err
	}
	if err := w.client.Workspaces.AddTags(w.ctx, w.workspaceID, tfe.WorkspaceAddTagsOptions{
		Tags: []*tfe.Tag{{Name: "plain"}},
	}); err != nil {
		return err
	}
	effective, err := w.client.Workspaces.ListEffectiveTagBindings(w.ctx, w.workspaceID)
	if err != nil {
		return err
	}
	if err := expect("effective tag bindings", len(effective), 2); err != nil {
		return err
	}
	for _, binding := range effective {
		if err := expect("links of "+binding.Key, len(binding.Links), 0); err != nil {
			return err
		}
	}
	found, err := w.client.Workspaces.List(w.ctx, w.name, &tfe.WorkspaceListOptions{
		TagBindings: []*tfe.TagBinding{{Key: "team", Value: "network"}},
	})
	if err != nil {
		return err
	}
	return expect("workspaces found", len(found.Items), 1)
}

func (w *walker) lock() error {
	locked, err := w.client.Workspaces.Lock(w.ctx, w.workspaceID, tfe.WorkspaceLockOptions{
		Reason: tfe.String("walking"),
	})
	if err != nil {
		return err
	}
	if err := expect("locked", locked.Locked, true); err != nil {
		return err
	}
	_, err = w.client.Workspaces.Lock(w.ctx, w.workspaceID, tfe.WorkspaceLockOptions{})
	if !errors.Is(err, tfe.ErrWorkspaceLocked) {
		return fmt.Errorf("a second lock is %w, expected locked", err)
	}
	return nil
}

func (w *walker) state() error {
	sum := fmt.Sprintf("%x", md5.Sum([]byte(state)))
	uploaded, err := w.client.StateVersions.Upload(w.ctx, w.workspaceID, tfe.StateVersionUploadOptions{
		StateVersionCreateOptions: tfe.StateVersionCreateOptions{
			Lineage: tfe.String("9f6a1b1c-5a3e-4a55-9d0c-1d2f3a4b5c6d"),
			MD5:     tfe.String(sum),
			Serial:  tfe.Int64(1),
			JSONStateOutputs: tfe.String(base64.StdEncoding.EncodeToString(
				[]byte(`{"region":{"value":"eu-1","type":"string","sensitive":false}}`))),
		},
		RawState: []byte(state),
	})
	if err != nil {
		return err
	}
	content, err := w.client.StateVersions.Download(w.ctx, uploaded.DownloadURL)
	if err != nil {
		return err
	}
	if !bytes.Equal(content, []byte(state)) {
		return errors.New("the downloaded state differs from the uploaded one")
	}
	if _, err := w.client.Workspaces.Unlock(w.ctx, w.workspaceID); err != nil {
		return err
	}
	current, err := w.client.StateVersions.ReadCurrentWithOptions(w.ctx, w.workspaceID, &tfe.StateVersionCurrentOptions{
		Include: []tfe.StateVersionIncludeOpt{tfe.SVoutputs},
	})
	if err != nil {
		return err
	}
	return expect("current state version", current.ID, uploaded.ID)
}

func (w *walker) outputs() error {
	for attempt := 0; ; attempt++ {
		outputs, err := w.client.StateVersionOutputs.ReadCurrent(w.ctx, w.workspaceID)
		if err == nil {
			if err := expect("outputs", len(outputs.Items), 1); err != nil {
				return err
			}
			return expect("output", outputs.Items[0].Value, any("eu-1"))
		}
		// The service may still be processing the state, so the read is repeated.
		if attempt == 100 {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func (w *walker) team() error {
	made, err := w.client.Teams.Create(w.ctx, w.name, tfe.TeamCreateOptions{
		Name:               tfe.String("team/with spaces"),
		OrganizationAccess: &tfe.OrganizationAccessOptions{ReadWorkspaces: tfe.Bool(true)},
	})
	if err != nil {
		return err
	}
	w.teamID = made.ID
	read, err := w.client.Teams.Read(w.ctx, made.ID)
	if err != nil {
		return err
	}
	if err := expect("read-workspaces", read.OrganizationAccess.ReadWorkspaces, true); err != nil {
		return err
	}
	return expect("team", read.Name, "team/with spaces")
}

func (w *walker) teamAccess() error {
	made, err := w.client.TeamAccess.Add(w.ctx, tfe.TeamAccessAddOptions{
		Access:    tfe.Access(tfe.AccessWrite),
		Team:      &tfe.Team{ID: w.teamID},
		Workspace: &tfe.Workspace{ID: w.workspaceID},
	})
	if err != nil {
		return err
	}
	custom, err := w.client.TeamAccess.Update(w.ctx, made.ID, tfe.TeamAccessUpdateOptions{
		Access: tfe.Access(tfe.AccessCustom),
		Runs:   tfe.RunsPermission(tfe.RunsPermissionRead),

		PolicyOverrides: tfe.Bool(true),
	})
	if err != nil {
		return err
	}
	if err := expect("policy overrides", custom.PolicyOverrides, true); err != nil {
		return err
	}
	if err := expect("kept permission", custom.Variables, tfe.VariablesPermissionWrite); err != nil {
		return err
	}
	project, err := w.client.TeamProjectAccess.Add(w.ctx, tfe.TeamProjectAccessAddOptions{
		Access:  tfe.TeamProjectAccessMaintain,
		Team:    &tfe.Team{ID: w.teamID},
		Project: &tfe.Project{ID: w.projectID},
	})
	if err != nil {
		return err
	}
	variableSets := tfe.ProjectVariableSetsPermissionRead
	changed, err := w.client.TeamProjectAccess.Update(w.ctx, project.ID, tfe.TeamProjectAccessUpdateOptions{
		Access:        tfe.ProjectAccess(tfe.TeamProjectAccessCustom),
		ProjectAccess: &tfe.TeamProjectAccessProjectPermissionsOptions{VariableSets: &variableSets},
	})
	if err != nil {
		return err
	}
	if err := expect("variable sets", changed.ProjectAccess.ProjectVariableSetsPermission, variableSets); err != nil {
		return err
	}
	return w.client.TeamProjectAccess.Remove(w.ctx, project.ID)
}

func (w *walker) teamTokens() error {
	plain, err := w.client.TeamTokens.Create(w.ctx, w.teamID)
	if err != nil {
		return err
	}
	if plain.Token == "" {
		return errors.New("the token has no secret")
	}
	if _, err := w.client.TeamTokens.CreateWithOptions(w.ctx, w.teamID, tfe.TeamTokenCreateOptions{
		Description: tfe.String("pipeline"),
	}); err != nil {
		return err
	}
	listed, err := w.client.TeamTokens.List(w.ctx, w.name, nil)
	if err != nil {
		return err
	}
	if err := expect("team tokens", len(listed.Items), 2); err != nil {
		return err
	}
	sorted, err := w.client.TeamTokens.List(w.ctx, w.name, &tfe.TeamTokenListOptions{
		Query: "spaces",
		Sort:  "-expired-at",
	})
	if err != nil {
		return err
	}
	if err := expect("team tokens found", len(sorted.Items), 2); err != nil {
		return err
	}
	none, err := w.client.TeamTokens.List(w.ctx, w.name, &tfe.TeamTokenListOptions{Query: "nothing"})
	if err != nil {
		return err
	}
	return expect("team tokens of another team", len(none.Items), 0)
}

func (w *walker) userTokens() error {
	user, err := w.client.Users.ReadCurrent(w.ctx)
	if err != nil {
		return err
	}
	if user.AvatarURL == "" {
		return errors.New("the user has no avatar")
	}
	made, err := w.client.UserTokens.Create(w.ctx, user.ID, tfe.UserTokenCreateOptions{Description: "walk"})
	if err != nil {
		return err
	}
	if _, err := w.client.UserTokens.List(w.ctx, user.ID); err != nil {
		return err
	}
	return w.client.UserTokens.Delete(w.ctx, made.ID)
}

func (w *walker) organizationToken() error {
	if _, err := w.client.OrganizationTokens.Create(w.ctx, w.name); err != nil {
		return err
	}
	if _, err := w.client.OrganizationTokens.Read(w.ctx, w.name); err != nil {
		return err
	}
	return w.client.OrganizationTokens.Delete(w.ctx, w.name)
}

// auditTrail reads the audit trail with an audit trails token, in pages, and continues after the last record.
func (w *walker) auditTrail() error {
	tokenType := tfe.AuditTrailToken
	token, err := w.client.OrganizationTokens.CreateWithOptions(w.ctx, w.name, tfe.OrganizationTokenCreateOptions{
		TokenType: &tokenType,
	})
	if err != nil {
		return err
	}
	config := tfe.DefaultConfig()
	config.Token = token.Token
	auditor, err := tfe.NewClient(config)
	if err != nil {
		return err
	}
	var all []*tfe.AuditTrail
	for number := 1; number != 0; {
		page, err := auditor.AuditTrails.List(w.ctx, &tfe.AuditTrailListOptions{
			ListOptions: &tfe.ListOptions{PageNumber: number, PageSize: 5},
		})
		if err != nil {
			return err
		}
		if err := expect("current page", page.CurrentPage, number); err != nil {
			return err
		}
		all = append(all, page.Items...)
		if number = page.NextPage; len(page.Items) > 5 {
			return fmt.Errorf("the page has %d entries", len(page.Items))
		}
	}
	found := false
	for index, entry := range all {
		if index > 0 && entry.Timestamp.Before(all[index-1].Timestamp) {
			return errors.New("the entries are not in the order of their times")
		}
		if entry.Resource.Type == "workspace" && entry.Resource.ID == w.workspaceID && entry.Resource.Action == "lock" {
			found = true
			if err := expect("type", entry.Auth.Type, "Client"); err != nil {
				return err
			}
		}
	}
	if !found {
		return fmt.Errorf("none of %d entries is the lock of the workspace", len(all))
	}
	later, err := auditor.AuditTrails.List(w.ctx, &tfe.AuditTrailListOptions{
		Since:       all[len(all)-1].Timestamp,
		ListOptions: &tfe.ListOptions{PageSize: 100},
	})
	if err != nil {
		return err
	}
	known := make(map[string]bool)
	for _, entry := range all {
		known[entry.ID] = true
	}
	// The client sends whole seconds, so it receives the last entries again.
	read := false
	for _, entry := range later.Items {
		read = read || !known[entry.ID] && entry.Resource.Type == "audit-trail"
	}
	if !read {
		return errors.New("the reading of the trail is not among the later entries")
	}
	return nil
}

func (w *walker) memberships() error {
	made, err := w.client.OrganizationMemberships.Create(w.ctx, w.name, tfe.OrganizationMembershipCreateOptions{
		Email: tfe.String("colleague@example.com"),
	})
	if err != nil {
		return err
	}
	read, err := w.client.OrganizationMemberships.ReadWithOptions(w.ctx, made.ID, tfe.OrganizationMembershipReadOptions{
		Include: []tfe.OrgMembershipIncludeOpt{tfe.OrgMembershipUser},
	})
	if err != nil {
		return err
	}
	if err := expect("status", read.Status, tfe.OrganizationMembershipInvited); err != nil {
		return err
	}
	for _, user := range []*tfe.User{made.User, read.User} {
		if err := expect("address of the invited user", user.Email, "colleague@example.com"); err != nil {
			return err
		}
		if err := expect("name of the invited user", user.Username, ""); err != nil {
			return err
		}
	}
	listed, err := w.client.OrganizationMemberships.List(w.ctx, w.name, nil)
	if err != nil {
		return err
	}
	if err := expect("memberships", len(listed.Items), 2); err != nil {
		return err
	}
	return w.client.OrganizationMemberships.Delete(w.ctx, made.ID)
}

func (w *walker) sshKeys() error {
	made, err := w.client.SSHKeys.Create(w.ctx, w.name, tfe.SSHKeyCreateOptions{
		Name:  tfe.String("deploy"),
		Value: tfe.String("a private key"),
	})
	if err != nil {
		return err
	}
	if _, err := w.client.Workspaces.AssignSSHKey(w.ctx, w.workspaceID, tfe.WorkspaceAssignSSHKeyOptions{
		SSHKeyID: tfe.String(made.ID),
	}); err != nil {
		return err
	}
	if _, err := w.client.Workspaces.UnassignSSHKey(w.ctx, w.workspaceID); err != nil {
		return err
	}
	return w.client.SSHKeys.Delete(w.ctx, made.ID)
}

func (w *walker) agentPools() error {
	made, err := w.client.AgentPools.Create(w.ctx, w.name, tfe.AgentPoolCreateOptions{Name: tfe.String("agents")})
	if err != nil {
		return err
	}
	listed, err := w.client.AgentPools.List(w.ctx, w.name, nil)
	if err != nil {
		return err
	}
	if err := expect("agent pools", len(listed.Items), 1); err != nil {
		return err
	}
	return w.client.AgentPools.Delete(w.ctx, made.ID)
}

func (w *walker) deletion() error {
	if err := w.client.Workspaces.SafeDeleteByID(w.ctx, w.workspaceID); err != nil {
		return err
	}
	if err := w.client.Projects.Delete(w.ctx, w.projectID); err != nil {
		return err
	}
	return w.client.Organizations.Delete(w.ctx, w.name)
}
