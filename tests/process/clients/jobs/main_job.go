// The main job with the client that oapi-codegen made; says in JSON what came of it.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"

	"example.org/job/herald"
)

const workspace = "default"

// must ends the program for an error, and for an answer that is no success.
func must[T any](answer *T, said []byte, failure error) *T {
	if failure != nil {
		panic(failure)
	}
	if answer == nil {
		panic(string(said))
	}
	return answer
}

func clientOf(who string) *herald.ClientWithResponses {
	sign := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Grpc-Metadata-email", os.Getenv(who))
		request.Header.Set("Grpc-Metadata-developer_key", os.Getenv(who+"_KEY"))
		return nil
	}
	client, failure := herald.NewClientWithResponses(os.Getenv("HERALD_URL"), herald.WithRequestEditorFn(sign))
	if failure != nil {
		panic(failure)
	}
	return client
}

func number(text string) int {
	value, failure := strconv.Atoi(text)
	if failure != nil {
		panic(failure)
	}
	return value
}

// body fills a request from JSON: a type that takes names and numbers has no literal in Go.
func body[T any](format string, values ...any) (request T) {
	if failure := json.Unmarshal([]byte(fmt.Sprintf(format, values...)), &request); failure != nil {
		panic(failure)
	}
	return request
}

func main() {
	ctx := context.Background()
	author, approver := clientOf("AUTHOR"), clientOf("APPROVER")

	hook, failure := author.CreateWebhookWithResponse(ctx, nil, body[herald.CreateWebhookRequest](
		`{"name":"job","location":%q,"event_types":["PROMOTE","REQUEST_SCAN"]}`, os.Getenv("RECEIVER_URL")))
	must(hook.JSON200, hook.Body, failure)
	made, failure := author.CreateModelWithResponse(ctx, workspace, nil, herald.CreateModelRequest{Name: "m"})
	model := must(made.JSON200, made.Body, failure).RegisteredModel
	versioned, failure := author.CreateVersionWithResponse(ctx, number(model.Id), nil, herald.CreateVersionRequest{Version: "v"})
	version := must(versioned.JSON200, versioned.Body, failure).ModelVersion

	asked, failure := author.CreateTransitionWithResponse(ctx, nil, body[herald.CreateTransitionRequest](
		`{"model_version_id":%q,"desired_stage":"PRODUCTION"}`, version.Id))
	transition := body[herald.ActOnTransitionRequest](`{"transition_id":%q}`, must(asked.JSON200, asked.Body, failure).Activity.Id)
	approved, failure := approver.ApproveTransitionWithResponse(ctx, nil, transition)
	must(approved.JSON200, approved.Body, failure)
	committed, failure := author.CommitTransitionWithResponse(ctx, nil, transition)
	must(committed.JSON200, committed.Body, failure)

	built, failure := author.CreateBuildWithResponse(ctx, workspace, nil, body[herald.CreateBuildRequest](
		`{"model_version_id":%s,"external_location":"registry.example.com/m:1"}`, version.Id))
	build := must(built.JSON200, built.Body, failure)
	external := true
	scanning, failure := author.RequestScanWithResponse(ctx, workspace, build.Id, nil, herald.RequestScanRequest{ScanExternal: &external})
	must(scanning.JSON200, scanning.Body, failure)
	reported, failure := author.ReportScanWithResponse(ctx, workspace, build.Id, nil, body[herald.ReportScanRequest](
		`{"scan_status":"scanned","scan_external_results":{"safety_status":"safe","url":"https://scanner.example.com/1"}}`))
	scan := must(reported.JSON200, reported.Body, failure)
	listed, failure := author.ListBuildsWithResponse(ctx, &herald.ListBuildsParams{ModelVersionId: number(version.Id)})
	builds := must(listed.JSON200, listed.Body, failure)
	refused, failure := author.GetModelWithResponse(ctx, 999999, nil)
	code := must(refused.JSON404, refused.Body, failure).Code

	told, failure := json.Marshal(map[string]any{"version": version.Id, "build": build.Id,
		"activity_state": committed.JSON200.Activity.ActivityState, "safety_status": scan.SafetyStatus,
		"builds": len(builds.Builds), "refusal_code": code})
	fmt.Println(string(*must(&told, nil, failure)))
}
