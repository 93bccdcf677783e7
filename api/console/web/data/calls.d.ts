// Made by api/console/make_types of the OpenAPI document; not written by hand.

export interface Accepted {
  status: boolean;
}
export interface AccessToken {
  id: AccessTokenId;
  creator_request: AccessTokenRequest;
  date_created: string;
}
export type AccessTokenId = number;
export interface AccessTokenRequest {
  value?: string;
  label?: string;
  expires?: unknown;
}
export interface AccessTokens {
  tokens: AccessToken[];
  total_records: number;
}
export interface ActOnTransitionRequest {
  transition_id: ActivityIdInput;
  comment?: string | null;
}
export interface Activities {
  activities: Activity[];
  total_records: string;
  next_page_token: string;
}
export interface Activity {
  id: ActivityId;
  model_version_id: VersionId;
  author_id: UserId;
  time_created: string;
  comment: string;
  transition?: Transition;
  approval?: Nothing;
  rejection?: Nothing;
  close?: Nothing;
  update?: StageUpdate;
  activity_state: "UNKNOWN" | "APPROVED" | "REJECTED" | "PENDING" | "CLOSED" | "COMMITTED";
  transition_id?: ActivityId;
  message?: string;
}
export interface ActivityAnswer {
  activity: Activity;
}
export type ActivityId = string;
export type ActivityIdInput = ActivityId | ActivityIdNumber | string;
export type ActivityIdNumber = number;
export interface AddGroupUsersRequest {
  user_id?: UserIdInput[] | null;
}
export interface AddOrganizationUserRequest {
  email: string;
}
export interface AddServiceAccountRequest {
  service_account: NewServiceAccountRequest;
}
export interface Artifact {
  key: string;
  path: string;
  path_only: boolean;
  artifact_type: "IMAGE" | "MODEL" | "TENSORBOARD" | "DATA" | "BLOB" | "STRING" | "CODE" | "CONTAINER";
  filename_extension: string;
  serialization: string;
  artifact_subtype: string;
  upload_completed: boolean;
  linked_artifact_id?: string;
}
export interface ArtifactInput {
  key?: string | null;
  path?: string | null;
  path_only?: boolean | null;
  artifact_type?: "IMAGE" | "MODEL" | "TENSORBOARD" | "DATA" | "BLOB" | "STRING" | "CODE" | "CONTAINER" | number | string | null;
  filename_extension?: string | null;
  serialization?: string | null;
  artifact_subtype?: string | null;
  linked_artifact_id?: string | null;
}
export interface ArtifactPartRequest {
  part_number: number | string;
  etag: string;
}
export interface AttemptEntry {
  number: number;
  time: string;
  source: "event" | "test" | "resend" | "replay";
  result: "succeeded" | "will_retry" | "dead" | "skipped" | "held";
  status: number;
  error: "none" | "address-not-allowed" | "dns" | "connect" | "tls" | "write" | "timeout" | "protocol" | "status" | "busy";
  message?: string;
  dns_us: number;
  connect_us: number;
  tls_us: number;
  first_byte_us: number;
  total_us: number;
  next_time?: string;
  address?: string;
  request_headers?: string;
  response_headers?: string;
  response_body?: string;
}
export interface AuditEntries {
  entries: AuditEntry[];
  total_records: string;
  next_page_token: string;
}
export interface AuditEntry {
  sequence: string;
  generation: number;
  offset: string;
  time: string;
  user_id: UserId;
  action: string;
  resource_type: string;
  resource_id: string;
  workspace_id: WorkspaceId;
  address: string;
  code: number;
  hash: string;
  user_name: string;
  resource_name: string;
  workspace_name: string;
  outcome: string;
}
export interface Backup {
  name: string;
  path: string;
  state: string;
  time_created: string;
  message: string;
  bytes: string;
  digest: string;
  content_digest: string;
  generation: number;
  offset: string;
  rows: string;
  carried_deliveries: string;
  artifacts_compared: string;
  artifacts_lost: string;
  lost_artifacts: string[];
}
export interface Backups {
  backups: Backup[];
  total_records: string;
  next_page_token: string;
}
export interface BatchingSettingsInput {
  size_max?: number | string | null;
  delay_ms_max?: number | string | null;
}
export interface BeginReplayRequest {
  webhook_id: WebhookIdInput;
  since?: unknown;
  until?: unknown;
  event_types?: ("CREATE" | "READ" | "UPDATE" | "DELETE" | "PROMOTE" | "REQUEST_SCAN" | "TRANSITION" | "WEBHOOK_HEALTH" | number | string)[] | null;
  only_undelivered?: boolean | null;
  dry_run?: boolean | null;
}
export interface BegunBackup {
  backup: Backup;
}
export interface Build {
  id: BuildId;
  model_version_id: VersionIdNumber;
  workspace_id: WorkspaceIdNumber;
  status: "building" | "finished" | "error";
  location: string;
  message: string;
  date_created: string;
  date_updated: string;
  creator_request: unknown;
  scan_status: "unscanned" | "scanning" | "scanned" | "error";
  safety_status: "unknown" | "safe" | "unsafe";
  inputs: ModelTensor[];
  outputs: ModelTensor[];
  upstream_url: string;
  requires_root: boolean;
  scan_external: boolean;
  self_contained: boolean;
  uses_flask: boolean;
}
export type BuildId = number;
export type BuildIdInput = BuildIdText | BuildId | string;
export type BuildIdText = string;
export interface Builds {
  builds: Build[];
  total_records: number;
  next_page_token: string;
}
export interface CanaryRuleRequest {
  rule_id: number | string;
  rule_parameters?: RuleParameterRequest[] | null;
}
export interface CanaryStrategyRequest {
  progress_interval_seconds?: number | string | null;
  progress_step?: unknown;
  rules?: CanaryRuleRequest[] | null;
}
export interface ChangePermissionRequest {
  group_id: GroupIdInput;
  role_id: RoleIdInput;
}
export interface ChangedUserNamesRequest {
  user_id?: UserIdInput | null;
  username?: string | null;
  default_workspace_id?: unknown;
}
export interface ChangedUserRequest {
  email?: string | null;
  full_name?: string | null;
  verta_info?: ChangedUserNamesRequest | null;
}
export interface CommitArtifactPartRequest {
  model_version_id?: VersionIdInput | null;
  key: string;
  artifact_part: ArtifactPartRequest;
}
export interface CommitMultipartArtifactRequest {
  model_version_id?: VersionIdInput | null;
  key: string;
  artifact_parts?: ArtifactPartRequest[] | null;
}
export interface CommittedPart {
  part_number: string;
  etag: string;
}
export interface CommittedParts {
  artifact_parts: CommittedPart[];
  total_records: string;
  next_page_token: string;
}
export interface Connection {
  status: boolean;
}
export interface ConsoleCode {
  code: string;
  time_expires: string;
}
export interface ConsoleRedemptionRequest {
  code: string;
  browser?: string | null;
}
export interface ConsoleSession {
  info?: User;
  time_expires?: string;
}
export interface ConsoleSignInRequest {
  browser?: string | null;
}
export interface CountOfModels {
  count: string;
}
export interface CountedWebhook {
  webhook: DeliveryWebhook;
  count: number;
}
export interface CreateAccessTokenRequest {
  value?: string | null;
  label?: string | null;
  expires?: unknown;
  id?: unknown;
}
export interface CreateBuildRequest {
  model_version_id?: VersionIdInput | null;
  run_id?: string | null;
  external_location?: string | null;
  hardware_compatibility?: unknown;
  upstream_url?: string | null;
  requires_root?: boolean | null;
  scan_external?: boolean | null;
  self_contained?: boolean | null;
  uses_flask?: boolean | null;
}
export interface CreateCommentRequest {
  model_version_id: VersionIdInput;
  comment: string;
}
export interface CreateEndpointRequest {
  path: string;
  description?: string | null;
  custom_permission?: CustomPermissionInput | null;
  visibility?: "PRIVATE" | "PUBLIC" | "ORG_SCOPED_PUBLIC" | "ORG_DEFAULT" | number | string | null;
  resource_visibility?: "UNKNOWN" | "ORG_DEFAULT" | "ORG_CUSTOM" | "PRIVATE" | "WORKSPACE_DEFAULT" | number | string | null;
  id?: unknown;
}
export interface CreateEndpointStageRequest {
  name: string;
  autocreate_token?: boolean | null;
  id?: unknown;
}
export interface CreateEventRequest {
  event_uuid: string;
  event_type: "CREATE" | "READ" | "UPDATE" | "DELETE" | "PROMOTE" | "REQUEST_SCAN" | "TRANSITION" | "WEBHOOK_HEALTH" | number | string;
  workspace_id?: WorkspaceIdInput | null;
  timestamp?: number | string | null;
  resource_type: unknown;
  original_entity?: unknown;
  new_entity?: unknown;
}
export interface CreateModelRequest {
  name: string;
  description?: string | null;
  labels?: string[] | null;
  attributes?: KeyValueInput[] | null;
  readme_text?: string | null;
  visibility?: "PRIVATE" | "PUBLIC" | "ORG_SCOPED_PUBLIC" | "ORG_DEFAULT" | number | string | null;
  resource_visibility?: "UNKNOWN" | "ORG_DEFAULT" | "ORG_CUSTOM" | "PRIVATE" | "WORKSPACE_DEFAULT" | number | string | null;
  custom_permission?: CustomPermissionInput | null;
  data_type?: "UNKNOWN" | "OTHER" | "AUDIO" | "IMAGE" | "TABULAR" | "TEXT" | "VIDEO" | number | string | null;
  task_type?: "UNKNOWN" | "OTHER" | "CLASSIFICATION" | "CLUSTERING" | "DETECTION" | "REGRESSION" | "TRANSCRIPTION" | "TRANSLATION" | number | string | null;
  pii?: boolean | null;
  id?: unknown;
  owner?: unknown;
  owner_id?: unknown;
  workspace_id?: unknown;
  time_created?: unknown;
  time_updated?: unknown;
  version_number?: unknown;
  workspace_service_id?: unknown;
}
export interface CreateServiceAccountRequest {
  username: string;
  associated_workspace_id?: WorkspaceIdInput | null;
  description?: string | null;
}
export interface CreateSessionRequest {
  verta_user_id?: UserIdInput | null;
  session_name: string;
  ttl_seconds?: number | string | null;
}
export interface CreateTransitionRequest {
  model_version_id: VersionIdInput;
  desired_stage: "UNKNOWN" | "DEVELOPMENT" | "STAGING" | "PRODUCTION" | "ARCHIVED" | "UNASSIGNED" | number | string;
  comment?: string | null;
}
export interface CreateUserRequest {
  info: NewUserRequest;
}
export interface CreateVersionRequest {
  lock_level?: "UNKNOWN" | "OPEN" | "CLOSED" | "REDACT" | number | string | null;
  experiment_run_id?: string | null;
  version: string;
  description?: string | null;
  labels?: string[] | null;
  readme_text?: string | null;
  attributes?: KeyValueInput[] | null;
  model?: ArtifactInput | null;
  artifacts?: ArtifactInput[] | null;
  environment?: unknown;
  docker_metadata?: unknown;
  datasets?: ArtifactInput[] | null;
  code_blob_map?: unknown;
  archived?: "UNKNOWN" | "TRUE" | "FALSE" | number | string | boolean | null;
  apis?: string[] | null;
  input_description?: string | null;
  output_description?: string | null;
  hide_input_label?: boolean | null;
  hide_output_label?: boolean | null;
  id?: unknown;
  registered_model_id?: unknown;
  version_number?: unknown;
  time_created?: unknown;
  time_updated?: unknown;
  owner?: unknown;
  owner_id?: unknown;
  stage?: unknown;
  redirect_metadata?: unknown;
}
export interface CreateWebhookRequest {
  name: string;
  location: string;
  event_types?: ("CREATE" | "READ" | "UPDATE" | "DELETE" | "PROMOTE" | "REQUEST_SCAN" | "TRANSITION" | "WEBHOOK_HEALTH" | number | string)[] | null;
  all_events?: boolean | null;
  resource_types?: ResourceFilterInput[] | null;
  description?: string | null;
  timeout_ms?: number | string | null;
  retry_schedule?: (number | string)[] | null;
  rate_limit?: number | string | null;
  filter?: FilterConditionInput[] | null;
  content_mode?: "binary" | "structured" | number | string | null;
  asymmetric?: boolean | null;
  time_expires?: number | string | null;
  mutual_secret?: string | null;
  workspace_id?: WorkspaceIdInput | null;
  headers?: unknown;
}
export interface CustomPermission {
  collaborator_type: "READ_ONLY" | "READ_WRITE";
  can_deploy: "UNKNOWN" | "TRUE" | "FALSE";
  can_predict: "UNKNOWN" | "TRUE" | "FALSE";
}
export interface CustomPermissionInput {
  collaborator_type?: "READ_ONLY" | "READ_WRITE" | number | string | null;
  can_deploy?: "UNKNOWN" | "TRUE" | "FALSE" | number | string | boolean | null;
  can_predict?: "UNKNOWN" | "TRUE" | "FALSE" | number | string | boolean | null;
}
export interface DeadEntry {
  webhook: DeliveryWebhook;
  error: "none" | "address-not-allowed" | "dns" | "connect" | "tls" | "write" | "timeout" | "protocol" | "status" | "busy";
  status: number;
  count: number;
  first: string;
  last: string;
  example: string;
}
export interface DeadList {
  groups: DeadEntry[];
  total_records: number;
  next_page_token: string;
  is_partial?: boolean;
}
export interface DeleteServiceAccountRequest {
  id: UserIdInput;
}
export interface DeleteSessionsRequest {
  ids: SessionIdInput[];
}
export interface DeleteWebhooksRequest {
  ids?: WebhookIdInput[] | null;
}
export interface DeliveryCounts {
  pending: number;
  succeeded: number;
  dead: number;
  unknown: number;
}
export interface DeliveryEntry {
  id: string;
  event_id: string;
  event_type: "CREATE" | "READ" | "UPDATE" | "DELETE" | "PROMOTE" | "REQUEST_SCAN" | "TRANSITION" | "WEBHOOK_HEALTH";
  resource: string;
  subject: DeliverySubject;
  webhook: DeliveryWebhook;
  state: "waiting" | "delivered" | "dead" | "held" | "skipped";
  attempts_max: number;
  last?: LastAttempt;
  next_attempt?: NextAttempt;
  time_event: string;
  time_done?: string;
  attempts: number;
}
export interface DeliveryFilterRequest {
  webhook_id?: WebhookIdInput | null;
  event_id?: string | null;
  resource?: string | null;
  event_type?: string | null;
  state?: string | null;
  error?: string | null;
  status?: unknown;
  since?: unknown;
  until?: unknown;
}
export interface DeliveryInFull {
  id: string;
  event_id: string;
  event_type: "CREATE" | "READ" | "UPDATE" | "DELETE" | "PROMOTE" | "REQUEST_SCAN" | "TRANSITION" | "WEBHOOK_HEALTH";
  resource: string;
  subject: DeliverySubject;
  webhook: DeliveryWebhook;
  state: "waiting" | "delivered" | "dead" | "held" | "skipped";
  attempts_max: number;
  last?: LastAttempt;
  next_attempt?: NextAttempt;
  time_event: string;
  time_done?: string;
  attempts: AttemptEntry[];
  schedule: ScheduledAttempt[];
  sentence: string;
  advice: string;
}
export interface DeliveryList {
  deliveries: DeliveryEntry[];
  total_records: number;
  total_is_at_least?: boolean;
  next_page_token: string;
  histogram?: HistogramEntry[];
  histogram_is_partial?: boolean;
  complete_from: string;
  bodies_kept_from: string;
}
export interface DeliverySubject {
  model?: string;
  version?: string;
  build?: string;
}
export interface DeliveryWebhook {
  id: WebhookId;
  name: string;
  host: string;
}
export interface DockerContextRequest {
  model_version_id?: VersionIdInput | null;
  run_id?: string | null;
  self_contained?: boolean | null;
}
export type Done = Record<string, unknown>;
export interface EarlierScan {
  id: ScanId;
  build_id: BuildId;
  creator_request: unknown;
  date_created: string;
  date_updated: string;
  scan_status: "unscanned" | "scanning" | "scanned" | "error";
  safety_status: "unknown" | "safe" | "unsafe";
  scan_external_status: ScanResults;
  scan_external_results: ScanResults;
  message: string;
  requested_by: UserIdNumber;
}
export interface Endpoint {
  id: EndpointId;
  path: string;
  creator_request: unknown;
  date_created: string;
  date_updated: string;
  owner_id: UserIdNumber;
  workspace_id: WorkspaceIdNumber;
  full_url: string;
}
export type EndpointId = string;
export interface EndpointStage {
  id: EndpointStageId;
  name: string;
  status: "inactive" | "creating" | "updating" | "active" | "error";
  components: StageComponent[];
  creator_request: unknown;
  date_created: string;
  date_updated: string;
  previous_build_id?: BuildId;
}
export type EndpointStageId = number;
export interface EndpointStages {
  stages: EndpointStage[];
  total_records: number;
}
export interface Endpoints {
  endpoints: Endpoint[];
  total_records: number;
  next_page_token: string;
}
export interface EventCause {
  who: string;
  request_id: string;
  traceparent: string;
  offset: number;
}
export interface EventInFull {
  event_id: string;
  event_type: "CREATE" | "READ" | "UPDATE" | "DELETE" | "PROMOTE" | "REQUEST_SCAN" | "TRANSITION" | "WEBHOOK_HEALTH";
  resource: string;
  subject: DeliverySubject;
  time_event: string;
  cause: EventCause;
  content_type: string;
  body?: string;
  audience: EventListener[];
}
export interface EventListener {
  webhook: DeliveryWebhook;
  held: boolean;
  state?: "waiting" | "delivered" | "dead" | "held" | "skipped";
  delivery_id: string;
}
export interface ExternalEvent {
  event_id: string;
  event_uuid: string;
  workspace_id: WorkspaceIdNumber;
  time_created: number;
  audience: number;
}
export interface FailPromotionRequest {
  reason?: string | null;
}
export interface FeatureFlag {
  enabled: boolean;
  content: string;
}
export interface FeatureFlags {
  feature_flags: KnownFlags;
}
export interface FilterCondition {
  path: string;
  operator: "EQ" | "NE" | "GT" | "GTE" | "LT" | "LTE" | "CONTAIN" | "NOT_CONTAIN" | "IN" | "NOT_IN";
  value: unknown;
}
export interface FilterConditionInput {
  path: string;
  operator?: "EQ" | "NE" | "GT" | "GTE" | "LT" | "LTE" | "CONTAIN" | "NOT_CONTAIN" | "IN" | "NOT_IN" | number | string | null;
  value: unknown;
}
export interface FindActivitiesRequest {
  registered_model_id?: ModelIdInput | null;
  model_version_id?: VersionIdInput | null;
  pagination?: PaginationInput | null;
}
export interface FindRequestInput {
  workspace_name?: string | null;
  id?: FindTargetInput | null;
  predicates?: PredicateInput[] | null;
  pagination?: PaginationInput | null;
  ascending?: boolean | null;
  sort_key?: string | null;
  ids?: (number | string)[] | null;
}
export interface FindServiceAccountsRequest {
  ids?: UserIdInput[] | null;
  associated_workspace_ids?: WorkspaceIdInput[] | null;
  usernames?: string[] | null;
  pagination?: PaginationInput | null;
}
export interface FindSessionsRequest {
  ids?: SessionIdInput[] | null;
  verta_user_id?: UserIdInput[] | null;
  name?: string[] | null;
  pagination?: PaginationInput | null;
}
export interface FindTargetInput {
  registered_model_id?: ModelIdInput | null;
  named_id?: NamedIdInput | null;
}
export interface FindTransitionsRequest {
  registered_model_id?: ModelIdInput | null;
  model_version_id?: VersionIdInput | null;
  state?: ("UNKNOWN" | "APPROVED" | "REJECTED" | "PENDING" | "CLOSED" | "COMMITTED" | number | string)[] | null;
  mine?: boolean | null;
  waiting_for_me?: boolean | null;
  pagination?: PaginationInput | null;
}
export interface FindWebhookCallsRequest {
  ids?: string[] | null;
  webhook_ids?: WebhookIdInput[] | null;
  event_uuids?: string[] | null;
  status?: ("UNKNOWN" | "SUCCESS" | "FAILURE" | "IN_PROGRESS" | number | string)[] | null;
  pagination?: PaginationInput | null;
}
export interface FindWebhooksRequest {
  ids?: WebhookIdInput[] | null;
  names?: string[] | null;
  workspace_id?: WorkspaceIdInput[] | null;
  resource_types?: ResourceFilterInput[] | null;
  pagination?: PaginationInput | null;
}
export interface GetUrlForArtifactRequest {
  model_version_id?: VersionIdInput | null;
  key: string;
  method: string;
  artifact_type?: "IMAGE" | "MODEL" | "TENSORBOARD" | "DATA" | "BLOB" | "STRING" | "CODE" | "CONTAINER" | number | string | null;
  part_number?: number | string | null;
}
export interface GetUsersRequest {
  user_ids?: UserIdInput[] | null;
  emails?: string[] | null;
  usernames?: string[] | null;
  pagination?: PaginationInput | null;
}
export interface Group {
  id: GroupId;
  org_id: OrganizationId;
  name: string;
  description: string;
  built_in: boolean;
  created_timestamp: string;
}
export interface GroupAnswer {
  group: GroupMembers;
}
export type GroupId = string;
export type GroupIdInput = GroupId | GroupIdNumber | string;
export type GroupIdNumber = number;
export interface GroupMembers {
  id: GroupId;
  org_id: OrganizationId;
  name: string;
  description: string;
  built_in: boolean;
  created_timestamp: string;
  member_ids: UserId[];
}
export interface Groups {
  groups: Group[];
  total_records: string;
  next_page_token: string;
}
export interface Health {
  status: string;
}
export interface HistogramEntry {
  from: string;
  delivered: number;
  waiting: number;
  dead: number;
  held: number;
  skipped: number;
}
export interface KeySet {
  keys: PublicKey[];
}
export interface KeyValue {
  key: string;
  value: unknown;
  value_type?: "STRING" | "NUMBER" | "LIST" | "BLOB";
}
export interface KeyValueInput {
  key?: string | null;
  value?: unknown;
  value_type?: "STRING" | "NUMBER" | "LIST" | "BLOB" | number | string | null;
}
export interface KnownFlags {
  promote_events: FeatureFlag;
  scan_events: FeatureFlag;
}
export interface LastAttempt {
  time: string;
  status: number;
  error: "none" | "address-not-allowed" | "dns" | "connect" | "tls" | "write" | "timeout" | "protocol" | "status" | "busy";
  total_us: number;
}
export interface ListedPromotion {
  model_version_id: VersionId;
  status: "NONE" | "IN_PROGRESS" | "COMPLETE" | "FAILED";
  transition_id: ActivityId;
  event_id: string;
  requested_by: UserId;
  approved_by: UserId[];
  time_requested: string;
  time_committed: string;
  time_completed: string;
  redirect_metadata: string;
  reason: string;
  deliveries?: DeliveryCounts;
  time_due?: string;
  model_name: string;
  version: string;
}
export interface ListedPromotions {
  promotions: ListedPromotion[];
  total_records: string;
  next_page_token: string;
}
export interface LockVersionRequest {
  lock_level: "UNKNOWN" | "OPEN" | "CLOSED" | "REDACT" | number | string;
}
export interface LogAttributesRequest {
  model_version_id?: VersionIdInput | null;
  attributes: KeyValueInput[];
}
export interface LogCodeRequest {
  model_version_id?: VersionIdInput | null;
  code_blob_map: unknown;
}
export interface LogDatasetsRequest {
  model_version_id?: VersionIdInput | null;
  datasets: ArtifactInput[];
}
export interface LogDockerMetadataRequest {
  model_version_id?: VersionIdInput | null;
  docker_metadata: unknown;
}
export interface ManifestEndpointRequest {
  path: string;
}
export interface MaybeOneUserRequest {
  user_id?: UserIdInput | null;
}
export interface Model {
  id: ModelId;
  owner: UserId;
  workspace_id: WorkspaceId;
  time_created: string;
  time_updated: string;
  version_number: string;
  name: string;
  description: string;
  labels: string[];
  attributes: KeyValue[];
  readme_text: string;
  visibility?: "PRIVATE" | "PUBLIC" | "ORG_SCOPED_PUBLIC" | "ORG_DEFAULT";
  resource_visibility: "UNKNOWN" | "ORG_DEFAULT" | "ORG_CUSTOM" | "PRIVATE" | "WORKSPACE_DEFAULT";
  custom_permission?: CustomPermission;
  data_type: "UNKNOWN" | "OTHER" | "AUDIO" | "IMAGE" | "TABULAR" | "TEXT" | "VIDEO";
  task_type: "UNKNOWN" | "OTHER" | "CLASSIFICATION" | "CLUSTERING" | "DETECTION" | "REGRESSION" | "TRANSCRIPTION" | "TRANSLATION";
  pii: boolean;
  owner_id: UserId;
  workspace_service_id: WorkspaceId;
}
export type ModelId = string;
export type ModelIdInput = ModelId | ModelIdNumber | string;
export type ModelIdNumber = number;
export interface ModelTensor {
  name: string;
  datatype: string;
  shape?: number[];
}
export interface ModelVersion {
  model_version: Version;
}
export interface ModelVersions {
  model_versions: Version[];
  total_records: string;
  next_page_token: string;
}
export interface NamedIdInput {
  workspace_name?: string | null;
  name?: string | null;
}
export interface NewServiceAccountRequest {
  org_id?: OrganizationIdInput | null;
  email: string;
  description?: string | null;
  id?: unknown;
  username?: unknown;
  primary_key?: unknown;
  time_created?: unknown;
  associated_workspace_id?: unknown;
}
export interface NewSession {
  session_secret_key: string;
  ttl_epoch: string;
  id: SessionId;
}
export interface NewUserNamesRequest {
  username?: string | null;
  user_id?: unknown;
  default_workspace_id?: unknown;
}
export interface NewUserRequest {
  email: string;
  full_name?: string | null;
  verta_info?: NewUserNamesRequest | null;
}
export interface NextAttempt {
  time: string;
  because: string;
}
export type Nothing = Record<string, unknown>;
export type NothingRequest = Record<string, unknown>;
export interface OneReplay {
  replay: ReplayEntry;
}
export interface OneUserRequest {
  user_id: UserIdInput;
}
export interface Openapi {
  openapi: string;
  info: unknown;
  servers: unknown;
  security: unknown;
  paths: unknown;
  webhooks: unknown;
  components: unknown;
}
export interface OperationsManifest {
  kind: string;
  metadata: unknown;
  spec: unknown;
}
export interface OperationsManifestRequest {
  endpoint: ManifestEndpointRequest;
  name?: string | null;
  update?: unknown;
  workspace_name?: string | null;
}
export interface Organization {
  id: OrganizationId;
  name: string;
  created_timestamp: string;
}
export interface OrganizationAnswer {
  organization: OrganizationName;
}
export type OrganizationId = string;
export type OrganizationIdInput = OrganizationId | OrganizationIdNumber | string;
export type OrganizationIdNumber = number;
export interface OrganizationName {
  id: OrganizationId;
  name: string;
}
export interface OrganizationRecord {
  organization: Organization;
}
export interface OrganizationWorkspace {
  id: WorkspaceId;
  org_id: OrganizationId;
  name: string;
  permissions: Permission[];
  description: string;
  namespace: string;
  built_in: boolean;
  created_timestamp: string;
  updated_timestamp: string;
}
export interface Organizations {
  organizations: Organization[];
  total_records: string;
  next_page_token: string;
}
export interface PaginationInput {
  page_number?: number | string | null;
  page_limit?: number | string | null;
  page_token?: string | null;
}
export interface Permission {
  group_id: GroupId;
  role_id: RoleId;
}
export interface PermissionInput {
  group_id?: GroupIdInput | null;
  role_id?: RoleIdInput | null;
}
export interface Permissions {
  actions: ResourceActions[];
  is_admin: boolean;
  system_admin: boolean;
  reports_scans: boolean;
  changes_webhooks: boolean;
}
export interface Policies {
  require_approval_for: ("UNKNOWN" | "DEVELOPMENT" | "STAGING" | "PRODUCTION" | "ARCHIVED" | "UNASSIGNED")[];
  approvals_required: number;
  require_safe_scan_for: ("UNKNOWN" | "DEVELOPMENT" | "STAGING" | "PRODUCTION" | "ARCHIVED" | "UNASSIGNED")[];
  commit_on_approve: boolean;
  promotion_deadline_seconds?: number;
  scan_by_others: boolean;
}
export interface PoliciesRequest {
  require_approval_for?: ("UNKNOWN" | "DEVELOPMENT" | "STAGING" | "PRODUCTION" | "ARCHIVED" | "UNASSIGNED" | number | string)[] | null;
  approvals_required?: number | string | null;
  require_safe_scan_for?: ("UNKNOWN" | "DEVELOPMENT" | "STAGING" | "PRODUCTION" | "ARCHIVED" | "UNASSIGNED" | number | string)[] | null;
  commit_on_approve?: boolean | null;
  promotion_deadline_seconds?: number | string | null;
  scan_by_others?: boolean | null;
}
export interface PredicateInput {
  key?: string | null;
  value?: unknown;
  operator?: "EQ" | "NE" | "GT" | "GTE" | "LT" | "LTE" | "CONTAIN" | "NOT_CONTAIN" | "IN" | "NOT_IN" | number | string | null;
  value_type?: "STRING" | "NUMBER" | "LIST" | "BLOB" | number | string | null;
}
export interface PredictionLimitsInput {
  body_bytes_max?: number | string | null;
  deadline_ms?: number | string | null;
  in_flight_max?: number | string | null;
}
export interface Promotion {
  model_version_id: VersionId;
  status: "NONE" | "IN_PROGRESS" | "COMPLETE" | "FAILED";
  transition_id: ActivityId;
  event_id: string;
  requested_by: UserId;
  approved_by: UserId[];
  time_requested: string;
  time_committed: string;
  time_completed: string;
  redirect_metadata: string;
  reason: string;
  deliveries?: DeliveryCounts;
  time_due?: string;
}
export interface PublicKey {
  kty: string;
  crv: string;
  x: string;
  kid: string;
  alg: string;
  use: string;
}
export interface Readiness {
  status: string;
  reason?: string;
  message?: string;
  writes_refused?: boolean;
  next_offset?: number;
  hash?: string;
}
export interface ReadinessForStage {
  desired_stage: "UNKNOWN" | "DEVELOPMENT" | "STAGING" | "PRODUCTION" | "ARCHIVED" | "UNASSIGNED";
  approvals_required: number;
  approved_by: UserId[];
  has_outdated_approvals: boolean;
  reviewers: UserId[];
  needs_safe_scan: boolean;
  has_safe_scan: boolean;
}
export interface RegisteredModel {
  registered_model: Model;
}
export interface RegisteredModels {
  registered_models: Model[];
  total_records: string;
  next_page_token: string;
}
export interface ReplayEntry {
  id: ReplayIdNumber;
  webhook_id?: WebhookId;
  state: "RUNNING" | "PAUSED" | "DONE" | "CANCELLED" | "FAILED";
  reason?: string;
  total: number;
  sent: number;
  delivered: number;
  failed: number;
  time_begun: string;
  time_ended?: string;
  by: string;
}
export type ReplayIdNumber = number;
export interface ReplayList {
  replays: ReplayEntry[];
  total_records: number;
  next_page_token: string;
}
export interface ReportScanRequest {
  scan_external_results?: ScanResultsRequest | null;
  scan_status: "scanned" | "error" | number | string;
}
export interface RequestScanRequest {
  scan_external?: boolean | null;
}
export interface ResourceActions {
  resource_type: "RESOURCE_TYPE_UNKNOWN" | "DATASET" | "PROJECT" | "REGISTERED_MODEL" | "ENDPOINT" | "MONITORED_ENTITY" | "NOTIFICATION_CHANNEL";
  allowed_actions: ("ACTION_TYPE_UNKNOWN" | "READ" | "UPDATE" | "CREATE" | "DELETE" | "APPROVE_REJECT" | "REGISTER" | "DEPLOY" | "PREDICT")[];
}
export interface ResourceActionsInput {
  resource_type?: "RESOURCE_TYPE_UNKNOWN" | "DATASET" | "PROJECT" | "REGISTERED_MODEL" | "ENDPOINT" | "MONITORED_ENTITY" | "NOTIFICATION_CHANNEL" | number | string | null;
  allowed_actions?: ("ACTION_TYPE_UNKNOWN" | "READ" | "UPDATE" | "CREATE" | "DELETE" | "APPROVE_REJECT" | "REGISTER" | "DEPLOY" | "PREDICT" | number | string)[] | null;
}
export interface ResourceFilter {
  registry_service_resource_type?: "REGISTERED_MODEL" | "REGISTERED_MODEL_VERSION" | "ENDPOINT" | "BUILD" | "ALL";
  deployment_service_resource_type?: "REGISTERED_MODEL" | "REGISTERED_MODEL_VERSION" | "ENDPOINT" | "BUILD" | "ALL";
  modeldb_service_resource_type?: "REGISTERED_MODEL" | "REGISTERED_MODEL_VERSION" | "ENDPOINT" | "BUILD" | "ALL";
}
export interface ResourceFilterInput {
  registry_service_resource_type?: "REGISTERED_MODEL" | "REGISTERED_MODEL_VERSION" | "ENDPOINT" | "BUILD" | "ALL" | number | string | null;
  deployment_service_resource_type?: "REGISTERED_MODEL" | "REGISTERED_MODEL_VERSION" | "ENDPOINT" | "BUILD" | "ALL" | number | string | null;
  modeldb_service_resource_type?: "REGISTERED_MODEL" | "REGISTERED_MODEL_VERSION" | "ENDPOINT" | "BUILD" | "ALL" | number | string | null;
}
export interface RetriggerWebhookCallRequest {
  call_id: string;
}
export interface RetriggeredCall {
  call_id: string;
}
export interface RetryDeliveriesRequest {
  ids?: string[] | null;
  filter?: DeliveryFilterRequest | null;
  workspace_id?: WorkspaceIdInput | null;
  dry_run?: boolean | null;
}
export interface Role {
  id: RoleId;
  org_id: OrganizationId;
  name: string;
  description: string;
  built_in: boolean;
  resource_actions: ResourceActions[];
  created_timestamp: string;
  reports_scans?: boolean;
}
export interface RoleAnswer {
  role: Role;
}
export type RoleId = string;
export type RoleIdInput = RoleId | RoleIdNumber | string;
export type RoleIdNumber = number;
export interface Roles {
  roles: Role[];
  total_records: string;
  next_page_token: string;
}
export interface RotateWebhookSecretRequest {
  webhook_id: WebhookIdInput;
  new_secret?: string | null;
  overlap_seconds?: number | string | null;
}
export interface RotatedSecret {
  webhook_id: WebhookId;
  mutual_secret: string;
  earlier_until: number;
}
export interface RuleParameterRequest {
  name?: string | null;
  value?: unknown;
}
export interface Scan {
  id: ScanId;
  build_id: BuildId;
  creator_request: unknown;
  date_created: string;
  date_updated: string;
  scan_status: "unscanned" | "scanning" | "scanned" | "error";
  safety_status: "unknown" | "safe" | "unsafe";
  scan_external_status: ScanResults;
  scan_external_results: ScanResults;
  message: string;
  requested_by: UserIdNumber;
  unconfirmed: UnconfirmedNode[];
  history: EarlierScan[];
}
export type ScanId = number;
export interface ScanResults {
  safety_status: "unknown" | "safe" | "unsafe";
  url: string;
}
export interface ScanResultsRequest {
  safety_status?: "unknown" | "safe" | "unsafe" | number | string | null;
  url?: string | null;
}
export interface ScheduledAttempt {
  number: number;
  time: string;
}
export interface SentAgain {
  call_id?: string;
  attempts_made?: number;
  replay?: ReplayEntry;
  count?: number;
  oldest?: string;
  newest?: string;
  by_webhook?: CountedWebhook[];
  events_from?: string;
  complete_from?: string;
  is_partial?: boolean;
}
export interface SentGroupRequest {
  org_id?: OrganizationIdInput | null;
  id?: GroupIdInput | null;
  name: string;
  description?: string | null;
  built_in?: unknown;
  created_timestamp?: unknown;
  member_ids?: unknown;
}
export interface SentOrganizationRequest {
  id?: OrganizationIdInput | null;
  name: string;
  created_timestamp?: unknown;
}
export interface SentRoleRequest {
  org_id?: OrganizationIdInput | null;
  id?: RoleIdInput | null;
  name: string;
  description?: string | null;
  resource_actions?: ResourceActionsInput[] | null;
  reports_scans?: boolean | null;
  built_in?: unknown;
  created_timestamp?: unknown;
}
export interface SentWorkspaceRequest {
  org_id?: OrganizationIdInput | null;
  id?: WorkspaceIdInput | null;
  name: string;
  description?: string | null;
  namespace?: string | null;
  permissions?: PermissionInput[] | null;
  built_in?: unknown;
  created_timestamp?: unknown;
  updated_timestamp?: unknown;
}
export interface ServedEndpoint {
  id: EndpointId;
  path: string;
  date_created: string;
  date_updated: string;
  owner_id: UserIdNumber;
  stages: ServedStage[];
}
export interface ServedEndpoints {
  endpoints: ServedEndpoint[];
  total_records: number;
  next_page_token: string;
}
export interface ServedStage {
  id: EndpointStageId;
  name: string;
  status: "inactive" | "creating" | "updating" | "active" | "error";
  components: StageComponent[];
  date_created: string;
  date_updated: string;
  previous_build_id?: BuildId;
}
export interface ServiceAccount {
  id: UserId;
  org_id: OrganizationId;
  email: string;
  username: string;
  description: string;
  associated_workspace_id: WorkspaceId;
  primary_key?: string;
  time_created: string;
}
export interface ServiceAccountAnswer {
  service_account: ServiceAccount;
}
export interface ServiceAccounts {
  service_accounts: ServiceAccount[];
  total_records: string;
  next_page_token: string;
}
export interface Session {
  id: SessionId;
  verta_user_id: UserId;
  name: string;
  ttl_epoch: string;
  time_created: string;
}
export type SessionId = string;
export type SessionIdInput = SessionId | SessionIdNumber | string;
export type SessionIdNumber = number;
export interface Sessions {
  sessions: Session[];
  total_records: string;
  next_page_token: string;
}
export interface SetFeatureFlagRequest {
  enabled: boolean;
  content?: string | null;
}
export interface SetGroupRequest {
  group: SentGroupRequest;
}
export interface SetOrganizationRequest {
  organization: SentOrganizationRequest;
}
export interface SetRoleRequest {
  role: SentRoleRequest;
}
export interface SetWebhookStatusRequest {
  webhook_id: WebhookIdInput;
  status: "ENABLED" | "DISABLED" | number | string;
}
export interface SetWorkspaceRequest {
  workspace: SentWorkspaceRequest;
}
export interface SigningKey {
  algorithm: string;
  public_key: string;
  log_id: string;
}
export interface Snapshot {
  name: string;
  generation: number;
  offset: string;
  time_created: string;
  bytes: string;
  digest: string;
}
export interface Snapshots {
  snapshots: Snapshot[];
  is_taking: boolean;
  total_records: string;
  next_page_token: string;
}
export interface StageComponent {
  build_id: BuildId;
  ratio: number;
  status: "creating" | "active" | "error";
  message: string;
}
export interface StageLogEntry {
  id: number;
  message: string;
  date_created: string;
  author_id?: UserIdNumber;
  author_name?: string;
}
export interface StageLogs {
  entries: StageLogEntry[];
  total_records: number;
}
export interface StageUpdate {
  stage: "UNKNOWN" | "DEVELOPMENT" | "STAGING" | "PRODUCTION" | "ARCHIVED" | "UNASSIGNED";
}
export interface StageUpdateStatus {
  update_request: unknown;
}
export interface SystemAdminRequest {
  share_with: string;
}
export interface SystemAdmins {
  user_ids: UserId[];
  total_records: string;
  next_page_token: string;
}
export interface TestAttempt {
  address: string;
  dns_us: number;
  connect_us: number;
  tls_us: number;
  first_byte_us: number;
  total_us: number;
  error: "none" | "address-not-allowed" | "dns" | "connect" | "tls" | "write" | "timeout" | "protocol" | "status" | "busy";
}
export interface TestResult {
  status_code: number;
  attempt: TestAttempt;
  hint: string;
}
export interface Transition {
  id: ActivityId;
  source_stage: "UNKNOWN" | "DEVELOPMENT" | "STAGING" | "PRODUCTION" | "ARCHIVED" | "UNASSIGNED";
  desired_stage: "UNKNOWN" | "DEVELOPMENT" | "STAGING" | "PRODUCTION" | "ARCHIVED" | "UNASSIGNED";
  state: "UNKNOWN" | "APPROVED" | "REJECTED" | "PENDING" | "CLOSED" | "COMMITTED";
}
export interface TriggerTestRequest {
  webhook_id: WebhookIdInput;
}
export interface UnconfirmedNode {
  node: string;
  serves_until: string;
}
export interface UpdateEndpointStageRequest {
  build_id: BuildIdInput;
  strategy: "rollout" | "canary" | number | string;
  canary_strategy?: CanaryStrategyRequest | null;
  resources?: unknown;
  autoscaling?: unknown;
  env?: unknown;
  limits?: PredictionLimitsInput | null;
  batching?: BatchingSettingsInput | null;
}
export interface UpdateMaskRequest {
  paths?: string[] | null;
}
export interface UpdateModelMembersRequest {
  registered_model?: UpdateModelRequest | null;
  update_mask?: UpdateMaskRequest | null;
  id?: unknown;
}
export interface UpdateModelRequest {
  time_updated?: number | string | null;
  name?: string | null;
  description?: string | null;
  labels?: string[] | null;
  attributes?: KeyValueInput[] | null;
  readme_text?: string | null;
  visibility?: "PRIVATE" | "PUBLIC" | "ORG_SCOPED_PUBLIC" | "ORG_DEFAULT" | number | string | null;
  resource_visibility?: "UNKNOWN" | "ORG_DEFAULT" | "ORG_CUSTOM" | "PRIVATE" | "WORKSPACE_DEFAULT" | number | string | null;
  custom_permission?: CustomPermissionInput | null;
  data_type?: "UNKNOWN" | "OTHER" | "AUDIO" | "IMAGE" | "TABULAR" | "TEXT" | "VIDEO" | number | string | null;
  task_type?: "UNKNOWN" | "OTHER" | "CLASSIFICATION" | "CLUSTERING" | "DETECTION" | "REGRESSION" | "TRANSCRIPTION" | "TRANSLATION" | number | string | null;
  pii?: boolean | null;
  id?: unknown;
  owner?: unknown;
  owner_id?: unknown;
  workspace_id?: unknown;
  time_created?: unknown;
  version_number?: unknown;
  workspace_service_id?: unknown;
}
export interface UpdateServiceAccountRequest {
  id: UserIdInput;
  username?: string | null;
  associated_workspace_id?: WorkspaceIdInput | null;
  description?: string | null;
}
export interface UpdateStageRequest {
  model_version_id: VersionIdInput;
  stage: "UNKNOWN" | "DEVELOPMENT" | "STAGING" | "PRODUCTION" | "ARCHIVED" | "UNASSIGNED" | number | string;
  comment?: string | null;
}
export interface UpdateUserRequest {
  info?: ChangedUserRequest | null;
  default_workspace_id?: WorkspaceIdInput | null;
}
export interface UpdateVersionMembersRequest {
  model_version?: UpdateVersionRequest | null;
  update_mask?: UpdateMaskRequest | null;
  id?: unknown;
}
export interface UpdateVersionRequest {
  time_updated?: number | string | null;
  redirect_metadata?: string | null;
  version?: string | null;
  description?: string | null;
  labels?: string[] | null;
  readme_text?: string | null;
  attributes?: KeyValueInput[] | null;
  model?: ArtifactInput | null;
  artifacts?: ArtifactInput[] | null;
  environment?: unknown;
  docker_metadata?: unknown;
  datasets?: ArtifactInput[] | null;
  code_blob_map?: unknown;
  archived?: "UNKNOWN" | "TRUE" | "FALSE" | number | string | boolean | null;
  apis?: string[] | null;
  input_description?: string | null;
  output_description?: string | null;
  hide_input_label?: boolean | null;
  hide_output_label?: boolean | null;
  id?: unknown;
  registered_model_id?: unknown;
  version_number?: unknown;
  time_created?: unknown;
  owner?: unknown;
  owner_id?: unknown;
  stage?: unknown;
  lock_level?: unknown;
  experiment_run_id?: unknown;
}
export interface UpdateWebhookRequest {
  id: WebhookIdInput;
  new_location?: string | null;
  add_event_types?: ("CREATE" | "READ" | "UPDATE" | "DELETE" | "PROMOTE" | "REQUEST_SCAN" | "TRANSITION" | "WEBHOOK_HEALTH" | number | string)[] | null;
  delete_event_types?: ("CREATE" | "READ" | "UPDATE" | "DELETE" | "PROMOTE" | "REQUEST_SCAN" | "TRANSITION" | "WEBHOOK_HEALTH" | number | string)[] | null;
  set_all_events?: boolean | null;
  clear_all_events?: boolean | null;
  add_resource_types?: ResourceFilterInput[] | null;
  delete_resource_types?: ResourceFilterInput[] | null;
  new_name?: string | null;
  description?: string | null;
  timeout_ms?: number | string | null;
  retry_schedule?: (number | string)[] | null;
  rate_limit?: number | string | null;
  filter?: FilterConditionInput[] | null;
  content_mode?: "binary" | "structured" | number | string | null;
  asymmetric?: boolean | null;
  time_expires?: number | string | null;
  mutual_secret?: string | null;
  headers?: unknown;
}
export interface UrlForArtifact {
  url: string;
  multipart_upload_ok: boolean;
  fields: unknown;
}
export interface User {
  email: string;
  full_name: string;
  dev_key?: string;
  verta_info: UserNames;
  secondary_dev_key?: string;
}
export interface UserAnswer {
  user: User;
}
export type UserId = string;
export type UserIdInput = UserId | UserIdNumber | string;
export type UserIdNumber = number;
export interface UserInfo {
  info: User;
}
export interface UserInfos {
  user_infos: User[];
  total_records: string;
  next_page_token: string;
}
export interface UserNames {
  user_id: UserId;
  username: string;
  default_workspace_id: WorkspaceId;
}
export interface Users {
  users: User[];
  total_records: string;
  next_page_token: string;
}
export interface Version {
  id: VersionId;
  registered_model_id: ModelId;
  version_number: string;
  time_created: string;
  time_updated: string;
  owner: UserId;
  stage: "UNKNOWN" | "DEVELOPMENT" | "STAGING" | "PRODUCTION" | "ARCHIVED" | "UNASSIGNED";
  lock_level: "UNKNOWN" | "OPEN" | "CLOSED" | "REDACT";
  experiment_run_id?: string;
  redirect_metadata?: string;
  version: string;
  description: string;
  labels: string[];
  readme_text: string;
  attributes: KeyValue[];
  model?: Artifact;
  artifacts: Artifact[];
  environment?: unknown;
  docker_metadata?: unknown;
  datasets: Artifact[];
  code_blob_map?: unknown;
  archived: "UNKNOWN" | "TRUE" | "FALSE";
  apis: string[];
  input_description: string;
  output_description: string;
  hide_input_label: boolean;
  hide_output_label: boolean;
}
export type VersionId = string;
export type VersionIdInput = VersionId | VersionIdNumber | string;
export type VersionIdNumber = number;
export interface Webhook {
  name: string;
  location: string;
  event_types: ("CREATE" | "READ" | "UPDATE" | "DELETE" | "PROMOTE" | "REQUEST_SCAN" | "TRANSITION" | "WEBHOOK_HEALTH")[];
  all_events: boolean;
  resource_types: ResourceFilter[];
  description: string;
  timeout_ms: number;
  retry_schedule: number[];
  rate_limit: number;
  filter: FilterCondition[];
  content_mode: "binary" | "structured";
  asymmetric: boolean;
  time_expires: number;
  id: WebhookId;
  workspace_id: WorkspaceIdNumber;
  status: "ENABLED" | "DISABLED";
  status_reason?: string;
  time_created: number;
  time_updated: number;
  mutual_secret: string;
  headers: unknown;
}
export interface WebhookCall {
  id: string;
  webhook_id: WebhookId;
  event_uuid: string;
  status: "UNKNOWN" | "SUCCESS" | "FAILURE" | "IN_PROGRESS";
  time_created: string;
  time_updated: string;
  attempts: AttemptEntry[];
}
export interface WebhookCalls {
  webhook_calls: WebhookCall[];
  total_records: number;
  next_page_token: string;
}
export interface WebhookHealthEntry {
  webhook: DeliveryWebhook;
  state: "ENABLED" | "DISABLED";
  because?: string;
  recent: LastAttempt[];
  success_rate?: number;
  p95_us: number;
  waiting: number;
  oldest_waiting?: string;
  dead: number;
  held: number;
  failing_since?: string;
}
export interface WebhookHealthList {
  webhooks: WebhookHealthEntry[];
  total_records: number;
  next_page_token: string;
}
export type WebhookId = number;
export type WebhookIdInput = WebhookIdText | WebhookId | string;
export type WebhookIdText = string;
export interface Webhooks {
  webhooks: Webhook[];
  total_records: number;
  next_page_token: string;
}
export interface Withdrawn {
  unconfirmed: UnconfirmedNode[];
}
export interface Workspace {
  id: WorkspaceId;
  org_id?: OrganizationId;
  org_name?: string;
  user_id?: UserId;
  username?: string;
}
export type WorkspaceId = string;
export type WorkspaceIdInput = WorkspaceId | WorkspaceIdNumber | string;
export type WorkspaceIdNumber = number;
export interface WorkspaceRecord {
  workspace: OrganizationWorkspace;
}
export interface WorkspaceRecords {
  workspaces: OrganizationWorkspace[];
  total_records: string;
  next_page_token: string;
}
export interface Workspaces {
  workspace: Workspace[];
  total_records: string;
  next_page_token: string;
}
export interface Calls {
  "GET /.well-known/jwks.json": { path: undefined; query: undefined; body: undefined; answer: KeySet };
  "GET /api/openapi.json": { path: undefined; query: undefined; body: undefined; answer: Openapi };
  "GET /api/v1/console/session": { path: undefined; query: undefined; body: undefined; answer: ConsoleSession };
  "POST /api/v1/console/session": { path: undefined; query: undefined; body: ConsoleSignInRequest; answer: ConsoleSession };
  "DELETE /api/v1/console/session": { path: undefined; query: undefined; body: undefined; answer: Done };
  "POST /api/v1/console/session/code": { path: undefined; query: undefined; body: NothingRequest; answer: ConsoleCode };
  "POST /api/v1/console/session/redeem": { path: undefined; query: undefined; body: ConsoleRedemptionRequest; answer: ConsoleSession };
  "GET /api/v1/deployment/builds": { path: undefined; query: { model_version_id: string | number; page_number?: string | number; page_limit?: string | number; page_token?: string | number }; body: undefined; answer: Builds };
  "POST /api/v1/deployment/builds/dockercontext": { path: undefined; query: undefined; body: DockerContextRequest; answer: string };
  "PUT /api/v1/deployment/builds/{build}/message": { path: { build: string | number }; query: undefined; body: string; answer: Build };
  "GET /api/v1/deployment/builds/{build}/scan": { path: { build: string | number }; query: undefined; body: undefined; answer: Scan };
  "POST /api/v1/deployment/operations/manifest": { path: undefined; query: undefined; body: OperationsManifestRequest; answer: OperationsManifest };
  "GET /api/v1/deployment/stages/{stage}/kafka": { path: { stage: string | number }; query: undefined; body: undefined; answer: string };
  "GET /api/v1/deployment/workspace/{workspace}/builds": { path: { workspace: string | number }; query: { status?: string | number; scan_status?: string | number; safety_status?: string | number; page_number?: string | number; page_limit?: string | number; page_token?: string | number }; body: undefined; answer: Builds };
  "POST /api/v1/deployment/workspace/{workspace}/builds": { path: { workspace: string | number }; query: undefined; body: CreateBuildRequest; answer: Build };
  "GET /api/v1/deployment/workspace/{workspace}/builds/{build}": { path: { workspace: string | number; build: string | number }; query: undefined; body: undefined; answer: Build };
  "GET /api/v1/deployment/workspace/{workspace}/builds/{build}/image": { path: { workspace: string | number; build: string | number }; query: { digest?: string | number }; body: undefined; answer: string };
  "POST /api/v1/deployment/workspace/{workspace}/builds/{build}/scan": { path: { workspace: string | number; build: string | number }; query: undefined; body: RequestScanRequest; answer: Scan };
  "PUT /api/v1/deployment/workspace/{workspace}/builds/{build}/scan": { path: { workspace: string | number; build: string | number }; query: undefined; body: ReportScanRequest; answer: Scan };
  "GET /api/v1/deployment/workspace/{workspace}/endpoints": { path: { workspace: string | number }; query: { page_number?: string | number; page_limit?: string | number; page_token?: string | number }; body: undefined; answer: Endpoints };
  "POST /api/v1/deployment/workspace/{workspace}/endpoints": { path: { workspace: string | number }; query: undefined; body: CreateEndpointRequest; answer: Endpoint };
  "GET /api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}": { path: { workspace: string | number; endpoint: string | number }; query: undefined; body: undefined; answer: Endpoint };
  "DELETE /api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}": { path: { workspace: string | number; endpoint: string | number }; query: undefined; body: undefined; answer: Withdrawn };
  "GET /api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}/stages": { path: { workspace: string | number; endpoint: string | number }; query: undefined; body: undefined; answer: EndpointStages };
  "POST /api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}/stages": { path: { workspace: string | number; endpoint: string | number }; query: undefined; body: CreateEndpointStageRequest; answer: EndpointStage };
  "GET /api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}/stages/{stage}": { path: { workspace: string | number; endpoint: string | number; stage: string | number }; query: undefined; body: undefined; answer: EndpointStage };
  "GET /api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}/stages/{stage}/accesstokens": { path: { workspace: string | number; endpoint: string | number; stage: string | number }; query: undefined; body: undefined; answer: AccessTokens };
  "POST /api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}/stages/{stage}/accesstokens": { path: { workspace: string | number; endpoint: string | number; stage: string | number }; query: undefined; body: CreateAccessTokenRequest; answer: AccessToken };
  "DELETE /api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}/stages/{stage}/accesstokens/{token}": { path: { workspace: string | number; endpoint: string | number; stage: string | number; token: string | number }; query: undefined; body: undefined; answer: Withdrawn };
  "GET /api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}/stages/{stage}/logs": { path: { workspace: string | number; endpoint: string | number; stage: string | number }; query: undefined; body: undefined; answer: StageLogs };
  "PUT /api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}/stages/{stage}/rollback": { path: { workspace: string | number; endpoint: string | number; stage: string | number }; query: undefined; body: NothingRequest; answer: EndpointStage };
  "GET /api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}/stages/{stage}/status": { path: { workspace: string | number; endpoint: string | number; stage: string | number }; query: undefined; body: undefined; answer: StageUpdateStatus };
  "PUT /api/v1/deployment/workspace/{workspace}/endpoints/{endpoint}/stages/{stage}/update": { path: { workspace: string | number; endpoint: string | number; stage: string | number }; query: undefined; body: UpdateEndpointStageRequest; answer: EndpointStage };
  "GET /api/v1/deployment/workspace/{workspace}/serving": { path: { workspace: string | number }; query: { page_number?: string | number; page_limit?: string | number; page_token?: string | number }; body: undefined; answer: ServedEndpoints };
  "GET /api/v1/modeldb/project/verifyConnection": { path: undefined; query: undefined; body: undefined; answer: Connection };
  "POST /api/v1/registry/model_versions/find": { path: undefined; query: undefined; body: FindRequestInput; answer: ModelVersions };
  "GET /api/v1/registry/model_versions/{version}": { path: { version: string | number }; query: undefined; body: undefined; answer: ModelVersion };
  "DELETE /api/v1/registry/model_versions/{version}": { path: { version: string | number }; query: undefined; body: undefined; answer: Done };
  "DELETE /api/v1/registry/model_versions/{version}/artifacts/{key}": { path: { version: string | number; key: string | number }; query: undefined; body: undefined; answer: Done };
  "POST /api/v1/registry/model_versions/{version}/commitArtifactPart": { path: { version: string | number }; query: undefined; body: CommitArtifactPartRequest; answer: Done };
  "POST /api/v1/registry/model_versions/{version}/commitMultipartArtifact": { path: { version: string | number }; query: undefined; body: CommitMultipartArtifactRequest; answer: Done };
  "GET /api/v1/registry/model_versions/{version}/getCommittedArtifactParts": { path: { version: string | number }; query: { key?: string | number }; body: undefined; answer: CommittedParts };
  "POST /api/v1/registry/model_versions/{version}/getUrlForArtifact": { path: { version: string | number }; query: undefined; body: GetUrlForArtifactRequest; answer: UrlForArtifact };
  "PUT /api/v1/registry/model_versions/{version}/lock": { path: { version: string | number }; query: undefined; body: LockVersionRequest; answer: Done };
  "POST /api/v1/registry/model_versions/{version}/logAttributes": { path: { version: string | number }; query: undefined; body: LogAttributesRequest; answer: ModelVersion };
  "POST /api/v1/registry/model_versions/{version}/logCodeBlobInModelVersion": { path: { version: string | number }; query: undefined; body: LogCodeRequest; answer: ModelVersion };
  "POST /api/v1/registry/model_versions/{version}/logDatasets": { path: { version: string | number }; query: undefined; body: LogDatasetsRequest; answer: ModelVersion };
  "POST /api/v1/registry/model_versions/{version}/logDockerMetadata": { path: { version: string | number }; query: undefined; body: LogDockerMetadataRequest; answer: ModelVersion };
  "GET /api/v1/registry/model_versions/{version}/promotion": { path: { version: string | number }; query: undefined; body: undefined; answer: Promotion };
  "POST /api/v1/registry/model_versions/{version}/promotion/fail": { path: { version: string | number }; query: undefined; body: FailPromotionRequest; answer: Promotion };
  "GET /api/v1/registry/model_versions/{version}/readiness": { path: { version: string | number }; query: { stage: string | number }; body: undefined; answer: ReadinessForStage };
  "POST /api/v1/registry/model_versions/{version}/requestScan": { path: { version: string | number }; query: undefined; body: RequestScanRequest; answer: Scan };
  "GET /api/v1/registry/registered_models/count": { path: undefined; query: { workspace_name: string | number }; body: undefined; answer: CountOfModels };
  "POST /api/v1/registry/registered_models/find": { path: undefined; query: undefined; body: FindRequestInput; answer: RegisteredModels };
  "GET /api/v1/registry/registered_models/{model_id}": { path: { model_id: string | number }; query: undefined; body: undefined; answer: RegisteredModel };
  "PUT /api/v1/registry/registered_models/{model_id}": { path: { model_id: string | number }; query: undefined; body: UpdateModelRequest; answer: RegisteredModel };
  "PATCH /api/v1/registry/registered_models/{model_id}": { path: { model_id: string | number }; query: undefined; body: UpdateModelRequest; answer: RegisteredModel };
  "DELETE /api/v1/registry/registered_models/{model_id}": { path: { model_id: string | number }; query: undefined; body: undefined; answer: Done };
  "PATCH /api/v1/registry/registered_models/{model_id}/full_body": { path: { model_id: string | number }; query: undefined; body: UpdateModelMembersRequest; answer: RegisteredModel };
  "POST /api/v1/registry/registered_models/{model_id}/model_versions": { path: { model_id: string | number }; query: undefined; body: CreateVersionRequest; answer: ModelVersion };
  "POST /api/v1/registry/registered_models/{model_id}/model_versions/find": { path: { model_id: string | number }; query: undefined; body: FindRequestInput; answer: ModelVersions };
  "GET /api/v1/registry/registered_models/{model_id}/model_versions/{version}": { path: { model_id: string | number; version: string | number }; query: undefined; body: undefined; answer: ModelVersion };
  "PUT /api/v1/registry/registered_models/{model_id}/model_versions/{version}": { path: { model_id: string | number; version: string | number }; query: undefined; body: UpdateVersionRequest; answer: ModelVersion };
  "PATCH /api/v1/registry/registered_models/{model_id}/model_versions/{version}": { path: { model_id: string | number; version: string | number }; query: undefined; body: UpdateVersionRequest; answer: ModelVersion };
  "DELETE /api/v1/registry/registered_models/{model_id}/model_versions/{version}": { path: { model_id: string | number; version: string | number }; query: undefined; body: undefined; answer: Done };
  "PATCH /api/v1/registry/registered_models/{model_id}/model_versions/{version}/full_body": { path: { model_id: string | number; version: string | number }; query: undefined; body: UpdateVersionMembersRequest; answer: ModelVersion };
  "POST /api/v1/registry/stage/approveTransition": { path: undefined; query: undefined; body: ActOnTransitionRequest; answer: ActivityAnswer };
  "POST /api/v1/registry/stage/closeTransition": { path: undefined; query: undefined; body: ActOnTransitionRequest; answer: ActivityAnswer };
  "POST /api/v1/registry/stage/commitTransition": { path: undefined; query: undefined; body: ActOnTransitionRequest; answer: ActivityAnswer };
  "POST /api/v1/registry/stage/createComment": { path: undefined; query: undefined; body: CreateCommentRequest; answer: ActivityAnswer };
  "POST /api/v1/registry/stage/createTransition": { path: undefined; query: undefined; body: CreateTransitionRequest; answer: ActivityAnswer };
  "POST /api/v1/registry/stage/findActivities": { path: undefined; query: undefined; body: FindActivitiesRequest; answer: Activities };
  "POST /api/v1/registry/stage/findTransitions": { path: undefined; query: undefined; body: FindTransitionsRequest; answer: Activities };
  "POST /api/v1/registry/stage/rejectTransition": { path: undefined; query: undefined; body: ActOnTransitionRequest; answer: ActivityAnswer };
  "POST /api/v1/registry/stage/updateStage": { path: undefined; query: undefined; body: UpdateStageRequest; answer: ActivityAnswer };
  "POST /api/v1/registry/workspaces/{workspace}/model_versions/find": { path: { workspace: string | number }; query: undefined; body: FindRequestInput; answer: ModelVersions };
  "GET /api/v1/registry/workspaces/{workspace}/policies": { path: { workspace: string | number }; query: undefined; body: undefined; answer: Policies };
  "PUT /api/v1/registry/workspaces/{workspace}/policies": { path: { workspace: string | number }; query: undefined; body: PoliciesRequest; answer: Policies };
  "GET /api/v1/registry/workspaces/{workspace}/promotions": { path: { workspace: string | number }; query: { status?: string | number }; body: undefined; answer: ListedPromotions };
  "POST /api/v1/registry/workspaces/{workspace}/registered_models": { path: { workspace: string | number }; query: undefined; body: CreateModelRequest; answer: RegisteredModel };
  "POST /api/v1/registry/workspaces/{workspace}/registered_models/find": { path: { workspace: string | number }; query: undefined; body: FindRequestInput; answer: RegisteredModels };
  "GET /api/v1/registry/workspaces/{workspace}/registered_models/{model}": { path: { workspace: string | number; model: string | number }; query: undefined; body: undefined; answer: RegisteredModel };
  "PUT /api/v1/registry/workspaces/{workspace}/registered_models/{model}": { path: { workspace: string | number; model: string | number }; query: undefined; body: UpdateModelRequest; answer: RegisteredModel };
  "PATCH /api/v1/registry/workspaces/{workspace}/registered_models/{model}": { path: { workspace: string | number; model: string | number }; query: undefined; body: UpdateModelRequest; answer: RegisteredModel };
  "DELETE /api/v1/registry/workspaces/{workspace}/registered_models/{model}": { path: { workspace: string | number; model: string | number }; query: undefined; body: undefined; answer: Done };
  "PATCH /api/v1/registry/workspaces/{workspace}/registered_models/{model}/full_body": { path: { workspace: string | number; model: string | number }; query: undefined; body: UpdateModelMembersRequest; answer: RegisteredModel };
  "POST /api/v1/registry/workspaces/{workspace}/registered_models/{model}/model_versions": { path: { workspace: string | number; model: string | number }; query: undefined; body: CreateVersionRequest; answer: ModelVersion };
  "POST /api/v1/registry/workspaces/{workspace}/registered_models/{model}/model_versions/find": { path: { workspace: string | number; model: string | number }; query: undefined; body: FindRequestInput; answer: ModelVersions };
  "GET /api/v1/registry/workspaces/{workspace}/registered_models/{model}/model_versions/{version_or_name}": { path: { workspace: string | number; model: string | number; version_or_name: string | number }; query: undefined; body: undefined; answer: ModelVersion };
  "PUT /api/v1/registry/workspaces/{workspace}/registered_models/{model}/model_versions/{version_or_name}": { path: { workspace: string | number; model: string | number; version_or_name: string | number }; query: undefined; body: UpdateVersionRequest; answer: ModelVersion };
  "PATCH /api/v1/registry/workspaces/{workspace}/registered_models/{model}/model_versions/{version_or_name}": { path: { workspace: string | number; model: string | number; version_or_name: string | number }; query: undefined; body: UpdateVersionRequest; answer: ModelVersion };
  "DELETE /api/v1/registry/workspaces/{workspace}/registered_models/{model}/model_versions/{version_or_name}": { path: { workspace: string | number; model: string | number; version_or_name: string | number }; query: undefined; body: undefined; answer: Done };
  "PATCH /api/v1/registry/workspaces/{workspace}/registered_models/{model}/model_versions/{version_or_name}/full_body": { path: { workspace: string | number; model: string | number; version_or_name: string | number }; query: undefined; body: UpdateVersionMembersRequest; answer: ModelVersion };
  "GET /api/v1/uac-proxy/audit": { path: undefined; query: { since?: string | number; until?: string | number; user?: string | number; workspace?: string | number; resource?: string | number; outcome?: string | number; page_number?: string | number; page_limit?: string | number; page_token?: string | number }; body: undefined; answer: AuditEntries };
  "GET /api/v1/uac-proxy/audit/export": { path: undefined; query: undefined; body: undefined; answer: string };
  "GET /api/v1/uac-proxy/audit/public-key": { path: undefined; query: undefined; body: undefined; answer: SigningKey };
  "GET /api/v1/uac-proxy/backups": { path: undefined; query: undefined; body: undefined; answer: Backups };
  "POST /api/v1/uac-proxy/backups": { path: undefined; query: undefined; body: NothingRequest; answer: BegunBackup };
  "POST /api/v1/uac-proxy/events/createEvent": { path: undefined; query: undefined; body: CreateEventRequest; answer: ExternalEvent };
  "POST /api/v1/uac-proxy/events/createWebhook": { path: undefined; query: undefined; body: CreateWebhookRequest; answer: Webhook };
  "DELETE /api/v1/uac-proxy/events/deleteWebhook": { path: undefined; query: undefined; body: DeleteWebhooksRequest; answer: Done };
  "GET /api/v1/uac-proxy/events/deliveries": { path: undefined; query: { workspace_id?: string | number; webhook_id?: string | number; event_id?: string | number; resource?: string | number; event_type?: string | number; state?: string | number; error?: string | number; status?: string | number; since?: string | number; until?: string | number; histogram?: string | number; page_limit?: string | number; page_token?: string | number }; body: undefined; answer: DeliveryList };
  "GET /api/v1/uac-proxy/events/deliveries/dead": { path: undefined; query: { workspace_id?: string | number }; body: undefined; answer: DeadList };
  "GET /api/v1/uac-proxy/events/deliveries/event": { path: undefined; query: { event_id: string | number }; body: undefined; answer: EventInFull };
  "POST /api/v1/uac-proxy/events/deliveries/retry": { path: undefined; query: undefined; body: RetryDeliveriesRequest; answer: SentAgain };
  "GET /api/v1/uac-proxy/events/deliveries/{delivery}": { path: { delivery: string | number }; query: undefined; body: undefined; answer: DeliveryInFull };
  "POST /api/v1/uac-proxy/events/findWebhook": { path: undefined; query: undefined; body: FindWebhooksRequest; answer: Webhooks };
  "POST /api/v1/uac-proxy/events/findWebhookCall": { path: undefined; query: undefined; body: FindWebhookCallsRequest; answer: WebhookCalls };
  "GET /api/v1/uac-proxy/events/replays": { path: undefined; query: { workspace_id?: string | number }; body: undefined; answer: ReplayList };
  "POST /api/v1/uac-proxy/events/replays": { path: undefined; query: undefined; body: BeginReplayRequest; answer: SentAgain };
  "GET /api/v1/uac-proxy/events/replays/{replay}": { path: { replay: string | number }; query: undefined; body: undefined; answer: OneReplay };
  "POST /api/v1/uac-proxy/events/replays/{replay}/cancel": { path: { replay: string | number }; query: undefined; body: undefined; answer: OneReplay };
  "POST /api/v1/uac-proxy/events/replays/{replay}/pause": { path: { replay: string | number }; query: undefined; body: undefined; answer: OneReplay };
  "POST /api/v1/uac-proxy/events/replays/{replay}/resume": { path: { replay: string | number }; query: undefined; body: undefined; answer: OneReplay };
  "POST /api/v1/uac-proxy/events/retriggerWebhookCall": { path: undefined; query: undefined; body: RetriggerWebhookCallRequest; answer: RetriggeredCall };
  "POST /api/v1/uac-proxy/events/rotateSecret": { path: undefined; query: undefined; body: RotateWebhookSecretRequest; answer: RotatedSecret };
  "POST /api/v1/uac-proxy/events/setWebhookStatus": { path: undefined; query: undefined; body: SetWebhookStatusRequest; answer: Webhook };
  "POST /api/v1/uac-proxy/events/triggerTest": { path: undefined; query: undefined; body: TriggerTestRequest; answer: TestResult };
  "POST /api/v1/uac-proxy/events/updateWebhook": { path: undefined; query: undefined; body: UpdateWebhookRequest; answer: Webhook };
  "GET /api/v1/uac-proxy/events/webhookHealth": { path: undefined; query: { workspace_id?: string | number }; body: undefined; answer: WebhookHealthList };
  "GET /api/v1/uac-proxy/feature-flags": { path: undefined; query: undefined; body: undefined; answer: FeatureFlags };
  "PUT /api/v1/uac-proxy/feature-flags/{name}": { path: { name: string | number }; query: undefined; body: SetFeatureFlagRequest; answer: FeatureFlag };
  "GET /api/v1/uac-proxy/organization/getOrganizationByName": { path: undefined; query: { org_name: string | number }; body: undefined; answer: OrganizationAnswer };
  "POST /api/v1/uac-proxy/service_account/createServiceAccount": { path: undefined; query: undefined; body: CreateServiceAccountRequest; answer: ServiceAccountAnswer };
  "POST /api/v1/uac-proxy/service_account/deleteServiceAccount": { path: undefined; query: undefined; body: DeleteServiceAccountRequest; answer: Accepted };
  "POST /api/v1/uac-proxy/service_account/findServiceAccount": { path: undefined; query: undefined; body: FindServiceAccountsRequest; answer: ServiceAccounts };
  "POST /api/v1/uac-proxy/service_account/updateServiceAccount": { path: undefined; query: undefined; body: UpdateServiceAccountRequest; answer: ServiceAccountAnswer };
  "POST /api/v1/uac-proxy/session/createSession": { path: undefined; query: undefined; body: CreateSessionRequest; answer: NewSession };
  "POST /api/v1/uac-proxy/session/deleteSession": { path: undefined; query: undefined; body: DeleteSessionsRequest; answer: Accepted };
  "POST /api/v1/uac-proxy/session/findSession": { path: undefined; query: undefined; body: FindSessionsRequest; answer: Sessions };
  "GET /api/v1/uac-proxy/snapshots": { path: undefined; query: undefined; body: undefined; answer: Snapshots };
  "POST /api/v1/uac-proxy/snapshots": { path: undefined; query: undefined; body: NothingRequest; answer: Snapshots };
  "POST /api/v1/uac-proxy/system_admin/addSystemAdmin": { path: undefined; query: undefined; body: SystemAdminRequest; answer: Accepted };
  "GET /api/v1/uac-proxy/system_admin/listSystemAdmins": { path: undefined; query: { page_number?: string | number; page_limit?: string | number; page_token?: string | number }; body: undefined; answer: SystemAdmins };
  "POST /api/v1/uac-proxy/system_admin/removeSystemAdmin": { path: undefined; query: undefined; body: SystemAdminRequest; answer: Accepted };
  "POST /api/v1/uac-proxy/uac/addDevKey": { path: undefined; query: undefined; body: NothingRequest; answer: User };
  "POST /api/v1/uac-proxy/uac/addDevKeyForUser": { path: undefined; query: undefined; body: OneUserRequest; answer: User };
  "POST /api/v1/uac-proxy/uac/createUser": { path: undefined; query: undefined; body: CreateUserRequest; answer: UserInfo };
  "DELETE /api/v1/uac-proxy/uac/deletePrimaryDevKey": { path: undefined; query: undefined; body: NothingRequest; answer: User };
  "DELETE /api/v1/uac-proxy/uac/deletePrimaryDevKeyForUser": { path: undefined; query: undefined; body: MaybeOneUserRequest; answer: User };
  "DELETE /api/v1/uac-proxy/uac/deleteSecondaryDevKey": { path: undefined; query: undefined; body: NothingRequest; answer: User };
  "DELETE /api/v1/uac-proxy/uac/deleteSecondaryDevKeyForUser": { path: undefined; query: undefined; body: MaybeOneUserRequest; answer: User };
  "POST /api/v1/uac-proxy/uac/deleteUser": { path: undefined; query: undefined; body: OneUserRequest; answer: Accepted };
  "GET /api/v1/uac-proxy/uac/getCurrentUser": { path: undefined; query: undefined; body: undefined; answer: User };
  "GET /api/v1/uac-proxy/uac/getUser": { path: undefined; query: { email?: string | number; user_id?: string | number; username?: string | number }; body: undefined; answer: User };
  "POST /api/v1/uac-proxy/uac/getUsers": { path: undefined; query: undefined; body: GetUsersRequest; answer: UserInfos };
  "POST /api/v1/uac-proxy/uac/updateUser": { path: undefined; query: undefined; body: UpdateUserRequest; answer: UserInfo };
  "GET /api/v1/uac-proxy/workspace/getMyPermissions": { path: undefined; query: { workspace_id: string | number }; body: undefined; answer: Permissions };
  "GET /api/v1/uac-proxy/workspace/getVisibleWorkspaces": { path: undefined; query: { page_number?: string | number; page_limit?: string | number; page_token?: string | number }; body: undefined; answer: Workspaces };
  "GET /api/v1/uac-proxy/workspace/getWorkspaceById": { path: undefined; query: { id: string | number }; body: undefined; answer: Workspace };
  "GET /api/v1/uac-proxy/workspace/getWorkspaceByName": { path: undefined; query: { name: string | number }; body: undefined; answer: Workspace };
  "GET /api/v2/uac-proxy/organization": { path: undefined; query: { page_number?: string | number; page_limit?: string | number; page_token?: string | number }; body: undefined; answer: Organizations };
  "POST /api/v2/uac-proxy/organization": { path: undefined; query: undefined; body: SetOrganizationRequest; answer: OrganizationRecord };
  "GET /api/v2/uac-proxy/organization/getOrganizationByName": { path: undefined; query: { name: string | number }; body: undefined; answer: OrganizationRecord };
  "GET /api/v2/uac-proxy/organization/{org}": { path: { org: string | number }; query: undefined; body: undefined; answer: OrganizationRecord };
  "DELETE /api/v2/uac-proxy/organization/{org}": { path: { org: string | number }; query: undefined; body: undefined; answer: Done };
  "GET /api/v2/uac-proxy/organization/{org}/groups": { path: { org: string | number }; query: { page_number?: string | number; page_limit?: string | number; page_token?: string | number }; body: undefined; answer: Groups };
  "POST /api/v2/uac-proxy/organization/{org}/groups": { path: { org: string | number }; query: undefined; body: SetGroupRequest; answer: GroupAnswer };
  "GET /api/v2/uac-proxy/organization/{org}/groups/{group}": { path: { org: string | number; group: string | number }; query: undefined; body: undefined; answer: GroupAnswer };
  "DELETE /api/v2/uac-proxy/organization/{org}/groups/{group}": { path: { org: string | number; group: string | number }; query: undefined; body: undefined; answer: Done };
  "POST /api/v2/uac-proxy/organization/{org}/groups/{group}/removeUsers": { path: { org: string | number; group: string | number }; query: undefined; body: AddGroupUsersRequest; answer: GroupAnswer };
  "POST /api/v2/uac-proxy/organization/{org}/groups/{group}/users": { path: { org: string | number; group: string | number }; query: undefined; body: AddGroupUsersRequest; answer: GroupAnswer };
  "DELETE /api/v2/uac-proxy/organization/{org}/role/{role}": { path: { org: string | number; role: string | number }; query: undefined; body: undefined; answer: Done };
  "GET /api/v2/uac-proxy/organization/{org}/roles": { path: { org: string | number }; query: { page_number?: string | number; page_limit?: string | number; page_token?: string | number }; body: undefined; answer: Roles };
  "POST /api/v2/uac-proxy/organization/{org}/roles": { path: { org: string | number }; query: undefined; body: SetRoleRequest; answer: RoleAnswer };
  "GET /api/v2/uac-proxy/organization/{org}/roles/{role}": { path: { org: string | number; role: string | number }; query: undefined; body: undefined; answer: RoleAnswer };
  "DELETE /api/v2/uac-proxy/organization/{org}/roles/{role}": { path: { org: string | number; role: string | number }; query: undefined; body: undefined; answer: Done };
  "POST /api/v2/uac-proxy/organization/{org}/serviceAccounts": { path: { org: string | number }; query: undefined; body: AddServiceAccountRequest; answer: ServiceAccountAnswer };
  "DELETE /api/v2/uac-proxy/organization/{org}/serviceAccounts/{user}": { path: { org: string | number; user: string | number }; query: undefined; body: undefined; answer: Accepted };
  "GET /api/v2/uac-proxy/organization/{org}/users": { path: { org: string | number }; query: { page_number?: string | number; page_limit?: string | number; page_token?: string | number }; body: undefined; answer: Users };
  "POST /api/v2/uac-proxy/organization/{org}/users": { path: { org: string | number }; query: undefined; body: AddOrganizationUserRequest; answer: UserAnswer };
  "DELETE /api/v2/uac-proxy/organization/{org}/users/{user}": { path: { org: string | number; user: string | number }; query: undefined; body: undefined; answer: Accepted };
  "DELETE /api/v2/uac-proxy/organization/{org}/workspace/{workspace_id}": { path: { org: string | number; workspace_id: string | number }; query: undefined; body: undefined; answer: Done };
  "GET /api/v2/uac-proxy/organization/{org}/workspaces": { path: { org: string | number }; query: { page_number?: string | number; page_limit?: string | number; page_token?: string | number }; body: undefined; answer: WorkspaceRecords };
  "POST /api/v2/uac-proxy/organization/{org}/workspaces": { path: { org: string | number }; query: undefined; body: SetWorkspaceRequest; answer: WorkspaceRecord };
  "GET /api/v2/uac-proxy/organization/{org}/workspaces/{workspace_id}": { path: { org: string | number; workspace_id: string | number }; query: undefined; body: undefined; answer: WorkspaceRecord };
  "DELETE /api/v2/uac-proxy/organization/{org}/workspaces/{workspace_id}": { path: { org: string | number; workspace_id: string | number }; query: undefined; body: undefined; answer: Done };
  "POST /api/v2/uac-proxy/organization/{org}/workspaces/{workspace_id}/permissions": { path: { org: string | number; workspace_id: string | number }; query: undefined; body: ChangePermissionRequest; answer: WorkspaceRecord };
  "DELETE /api/v2/uac-proxy/organization/{org}/workspaces/{workspace_id}/permissions": { path: { org: string | number; workspace_id: string | number }; query: undefined; body: ChangePermissionRequest; answer: WorkspaceRecord };
  "GET /healthz": { path: undefined; query: undefined; body: undefined; answer: Health };
  "GET /readyz": { path: undefined; query: { for?: string | number }; body: undefined; answer: Readiness };
}
