// README's tour with the client that oapi-codegen made; says in JSON what came of it.
package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"example.org/tour/herald"
)

const workspace = "default"

var ctx = context.Background()

// must ends the program for an error, and for an answer that is no success.
func must[T any](answer *T, said []byte, failure error) T {
	check(failure)
	if answer == nil {
		panic(string(said))
	}
	return *answer
}

func check(failure error) {
	if failure != nil {
		panic(failure)
	}
}

func to[T any](value T) *T { return &value }

// as makes a request's member that takes several types from a value of one of them.
func as[Member, Value any](from func(*Member, Value) error, value Value) (member Member) {
	check(from(&member, value))
	return member
}

func clientWith(headers map[string]string) *herald.ClientWithResponses {
	sign := func(_ context.Context, request *http.Request) error {
		for name, value := range headers {
			request.Header.Set(name, value)
		}
		return nil
	}
	client, failure := herald.NewClientWithResponses(os.Getenv("HERALD_URL"), herald.WithRequestEditorFn(sign))
	check(failure)
	return client
}

func clientOf(email, key string) *herald.ClientWithResponses {
	return clientWith(map[string]string{"Grpc-Metadata-email": email, "Grpc-Metadata-developer_key": key})
}

// transfer sends bytes to the URL, or gets what is there.
func transfer(method, url string, content []byte) string {
	request, failure := http.NewRequest(method, url, bytes.NewReader(content))
	check(failure)
	answer, failure := http.DefaultClient.Do(request)
	check(failure)
	defer answer.Body.Close()
	text, failure := io.ReadAll(answer.Body)
	check(failure)
	if answer.StatusCode != http.StatusOK {
		panic(string(text))
	}
	return string(text)
}

// until polls for something that is done.
func until[T any](get func() T, done func(T) bool) T {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if value := get(); done(value) {
			return value
		}
	}
	panic("not within a minute")
}

type traveller struct {
	we   *herald.ClientWithResponses
	told map[string]any
}

func (t traveller) subscribe() {
	promote := as((*herald.CreateWebhookRequest_EventTypes_Item).FromCreateWebhookRequestEventTypes0,
		herald.CreateWebhookRequestEventTypes0PROMOTE)
	scan := as((*herald.CreateWebhookRequest_EventTypes_Item).FromCreateWebhookRequestEventTypes0,
		herald.CreateWebhookRequestEventTypes0REQUESTSCAN)
	made, failure := t.we.CreateWebhookWithResponse(ctx, nil, herald.CreateWebhookRequest{
		Name: "tour", Location: os.Getenv("RECEIVER_URL"), MutualSecret: to(os.Getenv("SECRET")), AllEvents: to(false),
		EventTypes: &[]herald.CreateWebhookRequest_EventTypes_Item{promote, scan}})
	webhook := must(made.JSON200, made.Body, failure)
	tested, failure := t.we.TriggerTestWithResponse(ctx, nil, herald.TriggerTestRequest{
		WebhookId: as((*herald.WebhookIdInput).FromWebhookId, webhook.Id)})
	t.told["test_status"] = must(tested.JSON200, tested.Body, failure).StatusCode
}

func (t traveller) model(name string) herald.ModelId {
	made, failure := t.we.CreateModelWithResponse(ctx, workspace, nil, herald.CreateModelRequest{Name: name})
	return must(made.JSON200, made.Body, failure).RegisteredModel.Id
}

func artifact(path string) *herald.ArtifactInput {
	kind := as((*herald.ArtifactInput_ArtifactType).FromArtifactInputArtifactType0,
		herald.ArtifactInputArtifactType0MODEL)
	return &herald.ArtifactInput{Key: to("model"), Path: &path, ArtifactType: &kind}
}

func (t traveller) url(version herald.VersionId, method string) string {
	answer, failure := t.we.GetUrlForArtifactWithResponse(ctx, version, nil,
		herald.GetUrlForArtifactRequest{Key: "model", Method: method})
	return must(answer.JSON200, answer.Body, failure).Url
}

func (t traveller) register() (herald.ModelId, herald.VersionId) {
	model := t.model("fraud")
	made, failure := t.we.CreateVersionWithResponse(ctx, model, nil, herald.CreateVersionRequest{Version: "v1"})
	version := must(made.JSON200, made.Body, failure).ModelVersion.Id
	patched, failure := t.we.PatchVersionWithResponse(ctx, model, version, nil,
		herald.UpdateVersionRequest{Labels: &[]string{"eu", "nightly"}, Model: artifact("fraud.onnx")})
	must(patched.JSON200, patched.Body, failure)
	equal := as((*herald.PredicateInput_Operator).FromPredicateInputOperator0, herald.PredicateInputOperator0EQ)
	answer, failure := t.we.FindAllVersionsWithResponse(ctx, nil, herald.FindRequestInput{
		Predicates: &[]herald.PredicateInput{{Key: to("labels"), Operator: &equal, Value: "nightly"},
			{Key: to("stage"), Operator: &equal, Value: "unassigned"}}})
	found := []string{}
	for _, each := range must(answer.JSON200, answer.Body, failure).ModelVersions {
		found = append(found, each.Version)
	}
	t.told["found"] = found
	transfer("PUT", t.url(version, "PUT"), []byte("the bytes of a model"))
	t.told["bytes"] = transfer("GET", t.url(version, "GET"), nil)
	return model, version
}

// admit makes a second administrator.
func (t traveller) admit() *herald.ClientWithResponses {
	made, failure := t.we.CreateUserWithResponse(ctx, nil,
		herald.CreateUserRequest{Info: herald.NewUserRequest{Email: "grace@example.com"}})
	grace := must(made.JSON200, made.Body, failure).Info
	visible, failure := t.we.GetVisibleWorkspacesWithResponse(ctx, nil)
	for _, each := range must(visible.JSON200, visible.Body, failure).Workspace {
		if each.OrgId == nil || each.OrgName == nil || *each.OrgName != workspace {
			continue
		}
		listed, failure := t.we.ListGroupsWithResponse(ctx, *each.OrgId, nil)
		for _, group := range must(listed.JSON200, listed.Body, failure).Groups {
			if group.Name != "Admins" {
				continue
			}
			added, failure := t.we.AddGroupUsersWithResponse(ctx, *each.OrgId, group.Id, nil, herald.AddGroupUsersRequest{
				UserId: &[]herald.UserIdInput{as((*herald.UserIdInput).FromUserId, grace.VertaInfo.UserId)}})
			must(added.JSON200, added.Body, failure)
		}
	}
	return clientOf(grace.Email, *grace.DevKey)
}

func (t traveller) promote(model herald.ModelId, version herald.VersionId) {
	asked, failure := t.we.CreateTransitionWithResponse(ctx, nil, herald.CreateTransitionRequest{
		ModelVersionId: as((*herald.VersionIdInput).FromVersionId, version), Comment: to("ready"),
		DesiredStage: as((*herald.CreateTransitionRequest_DesiredStage).FromCreateTransitionRequestDesiredStage0,
			herald.CreateTransitionRequestDesiredStage0PRODUCTION)})
	transition := must(asked.JSON200, asked.Body, failure).Activity.Transition
	act := herald.ActOnTransitionRequest{TransitionId: as((*herald.ActivityIdInput).FromActivityId, transition.Id)}
	own, failure := t.we.ApproveTransitionWithResponse(ctx, nil, act)
	t.told["refused_own_approval"] = must(own.JSON403, own.Body, failure).Code
	she := t.admit()
	open, failure := she.FindTransitionsWithResponse(ctx, nil, herald.FindTransitionsRequest{WaitingForMe: to(true)})
	waiting := []string{}
	for _, each := range must(open.JSON200, open.Body, failure).Activities {
		waiting = append(waiting, each.Comment)
	}
	t.told["waiting"] = waiting
	approved, failure := she.ApproveTransitionWithResponse(ctx, nil, act)
	must(approved.JSON200, approved.Body, failure)
	committed, failure := t.we.CommitTransitionWithResponse(ctx, nil, act)
	t.told["activity_state"] = must(committed.JSON200, committed.Body, failure).Activity.ActivityState
	done, failure := t.we.PutVersionWithResponse(ctx, model, version, nil,
		herald.UpdateVersionRequest{RedirectMetadata: to("https://models.example.com/fraud/v1")})
	must(done.JSON200, done.Body, failure)
	promotion, failure := t.we.GetPromotionWithResponse(ctx, version, nil)
	t.told["promotion"] = must(promotion.JSON200, promotion.Body, failure).Status
}

func (t traveller) build(request herald.CreateBuildRequest) herald.Build {
	made, failure := t.we.CreateBuildWithResponse(ctx, workspace, nil, request)
	return must(made.JSON200, made.Body, failure)
}

func (t traveller) report(build herald.BuildId, safety herald.ScanResultsRequestSafetyStatus0) herald.Scan {
	known := as((*herald.ScanResultsRequest_SafetyStatus).FromScanResultsRequestSafetyStatus0, safety)
	told, failure := t.we.ReportScanWithResponse(ctx, workspace, build, nil, herald.ReportScanRequest{
		ScanStatus: as((*herald.ReportScanRequest_ScanStatus).FromReportScanRequestScanStatus0,
			herald.ReportScanRequestScanStatus0Scanned),
		ScanExternalResults: &herald.ScanResultsRequest{SafetyStatus: &known, Url: to("https://scanner.example.com/1")}})
	return must(told.JSON200, told.Body, failure)
}

func (t traveller) scan(version herald.VersionId) herald.BuildId {
	id := as((*herald.VersionIdInput).FromVersionId, version)
	build := t.build(herald.CreateBuildRequest{ModelVersionId: &id, ExternalLocation: to("registry.example.com/fraud:v1")})
	asked, failure := t.we.RequestScanWithResponse(ctx, workspace, build.Id, nil,
		herald.RequestScanRequest{ScanExternal: to(true)})
	must(asked.JSON200, asked.Body, failure)
	t.report(build.Id, herald.ScanResultsRequestSafetyStatus0Safe)
	read, failure := t.we.GetScanWithResponse(ctx, build.Id, nil)
	t.told["safety_status"] = must(read.JSON200, read.Body, failure).SafetyStatus
	listed, failure := t.we.ListBuildsWithResponse(ctx, &herald.ListBuildsParams{ModelVersionId: version})
	same := []bool{}
	for _, each := range must(listed.JSON200, listed.Body, failure).Builds {
		same = append(same, each.Id == build.Id)
	}
	t.told["builds"] = same
	return build.Id
}

func (t traveller) deploy() (herald.BuildId, string) {
	made, failure := t.we.CreateVersionWithResponse(ctx, t.model("price"), nil,
		herald.CreateVersionRequest{Version: "v1", Model: artifact("price.onnx")})
	version := must(made.JSON200, made.Body, failure).ModelVersion.Id
	content, failure := base64.StdEncoding.DecodeString(os.Getenv("ONNX_MODEL"))
	check(failure)
	transfer("PUT", t.url(version, "PUT"), content)
	id := as((*herald.VersionIdInput).FromVersionId, version)
	begun := t.build(herald.CreateBuildRequest{ModelVersionId: &id})
	built := until(func() herald.Build {
		read, failure := t.we.GetBuildWithResponse(ctx, workspace, begun.Id, nil)
		return must(read.JSON200, read.Body, failure)
	}, func(build herald.Build) bool { return build.Status != "building" })
	t.told["build_status"] = built.Status

	opened, failure := t.we.CreateEndpointWithResponse(ctx, workspace, nil, herald.CreateEndpointRequest{Path: "/price"})
	endpoint := must(opened.JSON200, opened.Body, failure).Id
	staged, failure := t.we.CreateEndpointStageWithResponse(ctx, workspace, endpoint, nil,
		herald.CreateEndpointStageRequest{Name: "production"})
	stage := must(staged.JSON200, staged.Body, failure).Id
	updated, failure := t.we.UpdateEndpointStageWithResponse(ctx, workspace, endpoint, stage, nil,
		herald.UpdateEndpointStageRequest{BuildId: as((*herald.BuildIdInput).FromBuildId, built.Id),
			Strategy: as((*herald.UpdateEndpointStageRequest_Strategy).FromUpdateEndpointStageRequestStrategy0,
				herald.Rollout)})
	must(updated.JSON200, updated.Body, failure)
	serving := until(func() herald.EndpointStage {
		read, failure := t.we.GetEndpointStageWithResponse(ctx, workspace, endpoint, stage, nil)
		return must(read.JSON200, read.Body, failure)
	}, func(stage herald.EndpointStage) bool { return stage.Status == "active" || stage.Status == "error" })
	t.told["stage_status"] = serving.Status
	tokens, failure := t.we.ListAccessTokensWithResponse(ctx, workspace, endpoint, stage, nil)
	return built.Id, *must(tokens.JSON200, tokens.Body, failure).Tokens[0].CreatorRequest.Value
}

func (t traveller) predict(build herald.BuildId, token string) {
	caller := clientWith(map[string]string{"Access-token": token})
	ask := func(house [][]float64) *herald.PredictResponse {
		answer, failure := caller.PredictWithResponse(ctx, "price", nil, map[string]any{"house": house})
		check(failure)
		return answer
	}
	asked := ask([][]float64{{80, 3}, {120, 5}})
	t.told["prices"] = must(asked.JSON200, asked.Body, nil)
	misfit := ask([][]float64{{80}})
	t.told["misfit"] = must(misfit.JSON400, misfit.Body, nil).Code
	t.told["unconfirmed"] = len(t.report(build, herald.ScanResultsRequestSafetyStatus0Unsafe).Unconfirmed)
	stopped := ask([][]float64{{80, 3}})
	t.told["stopped"] = must(stopped.JSON403, stopped.Body, nil).Code
}

func (t traveller) repeat() {
	once := &herald.CreateModelParams{IdempotencyKey: to("my-first")}
	ids := []herald.ModelId{}
	for range 2 {
		made, failure := t.we.CreateModelWithResponse(ctx, workspace, once, herald.CreateModelRequest{Name: "churn"})
		ids = append(ids, must(made.JSON200, made.Body, failure).RegisteredModel.Id)
	}
	t.told["is_repeated"] = ids[0] == ids[1]
}

func main() {
	t := traveller{clientOf(os.Getenv("ADMIN"), os.Getenv("ADMIN_KEY")), map[string]any{}}
	t.subscribe()
	model, version := t.register()
	t.promote(model, version)
	t.told["version"], t.told["build"] = version, t.scan(version)
	t.predict(t.deploy())
	t.repeat()
	text, failure := json.Marshal(t.told)
	fmt.Println(string(must(&text, nil, failure)))
}
