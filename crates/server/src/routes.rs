//! The table of all API operations, from which the router and the OpenAPI document are generated.

use crate::access::{Project, Role, User};
use crate::api::parts::{list, view};
use crate::api::{
    At, CreatedRun, Page, acts, admin, create, inbox, parts, preview, review, run, runs, sessions,
    system,
};
use crate::factory::{ModelItem, PolicyItem, WantedRun, WantedSession};
use crate::operation::{Operation, delete, get, post};
use crate::stream::{sse, ws};
use crate::views::{
    artifacts, checks, diff, events, gate, graph, money, spec, task, timeline, why,
};

/// All operations.
pub(crate) fn operations() -> Vec<Operation> {
    [
        system_operations(),
        run_operations(),
        part_operations(),
        record_operations(),
        act_operations(),
        session_operations(),
        stream_operations(),
    ]
    .concat()
}

fn system_operations() -> Vec<Operation> {
    vec![
        get("/health", "health", "Whether the server works", system::health)
            .answers::<system::Health>(),
        get("/metrics", "metrics", "Figures for Prometheus", system::metrics).media("text/plain"),
        get("/openapi.json", "document", "This document", system::document),
        get("/me", "me", "Who is logged in", system::me).answers::<User>(),
        get("/stats", "stats", "Figures over all runs", system::stats)
            .query::<system::Since>()
            .answers::<engine::export::Stats>(),
        get("/models", "models", "Models that can be named", system::models)
            .answers::<Page<ModelItem>>(),
        get("/policies", "policies", "Rules to work by", system::policies)
            .answers::<Page<PolicyItem>>(),
        get("/policies/{name}", "policy", "One set of rules", system::policy)
            .answers::<PolicyItem>(),
        get("/projects", "projects", "Repositories with a name", admin::projects)
            .answers::<Page<admin::ProjectItem>>(),
        post("/projects", "add_project", "Name a repository", admin::add_project)
            .body::<admin::NewProject>()
            .makes::<Project>()
            .only(Role::Admin),
        delete(
            "/projects/{name}",
            "remove_project",
            "Forget a project's name",
            admin::remove_project,
        )
        .answers::<Page<Project>>()
        .only(Role::Admin),
        get("/users", "users", "Who may use the server", admin::users)
            .answers::<Page<User>>()
            .only(Role::Admin),
        post("/users", "add_user", "Let somebody use the server", admin::add_user)
            .body::<admin::NewUser>()
            .makes::<admin::NewToken>()
            .only(Role::Admin),
        delete("/users/{name}", "remove_user", "Revoke somebody's access", admin::remove_user)
            .answers::<Page<User>>()
            .only(Role::Admin),
    ]
}

fn run_operations() -> Vec<Operation> {
    vec![
        get("/runs", "runs", "Runs, the newest first", runs::list)
            .query::<runs::RunQuery>()
            .answers::<Page<runs::RunItem>>(),
        post("/runs", "start_run", "Start a run", create::start)
            .body::<WantedRun>()
            .makes::<CreatedRun>()
            .idempotent(),
        post("/runs/preview", "preview_run", "What would happen to a request", preview::show)
            .body::<WantedRun>()
            .answers::<preview::PreviewReport>(),
        get("/runs/{run}", "run", "A run", run::show).query::<At>().answers::<run::RunDetail>(),
        get("/runs/{run}/comments", "comments", "Comments on a result", review::list)
            .answers::<Page<runtime::Comment>>(),
        post("/runs/{run}/comments", "comment", "Comment on a result", review::add)
            .body::<review::NewComment>()
            .makes::<Page<runtime::Comment>>(),
        delete(
            "/runs/{run}/comments/{place}",
            "remove_comment",
            "Take a comment back",
            review::remove,
        )
        .answers::<Page<runtime::Comment>>(),
        post(
            "/runs/{run}/review",
            "send_review",
            "Let a run follow from the comments",
            review::send,
        )
        .body::<review::FollowUp>()
        .makes::<CreatedRun>(),
        get("/questions", "questions", "What waits for a person", inbox::list)
            .answers::<Page<inbox::InboxItem>>(),
    ]
}

fn part_operations() -> Vec<Operation> {
    vec![
        get("/runs/{run}/graph", "graph", "The plan, laid out", view(graph::graph))
            .query::<At>()
            .answers::<graph::Graph>(),
        get(
            "/runs/{run}/timeline",
            "timeline",
            "What took how long, and why it waited",
            view(timeline::timeline),
        )
        .query::<At>()
        .answers::<timeline::Timeline>(),
        get("/runs/{run}/money", "money", "Spent, set aside, forecast", view(money::money))
            .query::<At>()
            .answers::<money::MoneyReport>(),
        get(
            "/runs/{run}/plan",
            "plan",
            "The adopted plan, or the one that waits for approval",
            parts::plan,
        )
        .query::<At>()
        .answers::<types::Plan>(),
        get("/runs/{run}/response", "response", "The response object", parts::respond)
            .query::<At>(),
        get("/runs/{run}/spec", "spec", "Requirements, tasks, checks, evidence", view(spec::spec))
            .query::<At>()
            .answers::<spec::SpecMatrix>(),
        get("/runs/{run}/proof", "proof", "Whether the run can be proven", parts::proof)
            .answers::<parts::ProofView>(),
        get("/runs/{run}/tasks/{task}", "task", "One task and its attempts", parts::one_task)
            .query::<At>()
            .answers::<task::TaskDetail>(),
        get(
            "/runs/{run}/attempts/{attempt}/transcript",
            "transcript",
            "What was said and done",
            parts::transcript,
        )
        .query::<parts::Part>()
        .answers::<Page<engine::export::TranscriptEntry>>(),
        get("/runs/{run}/diff", "diff", "What was changed", parts::change)
            .query::<parts::Of>()
            .answers::<diff::DiffView>(),
    ]
}

fn record_operations() -> Vec<Operation> {
    vec![
        get("/runs/{run}/gates", "gates", "Go or no-go, with the evidence", list(gate::gates))
            .query::<At>()
            .answers::<Page<gate::GateDetail>>(),
        get("/runs/{run}/checks", "checks", "Checks and their tests", list(checks::checks))
            .query::<At>()
            .answers::<Page<checks::CheckItem>>(),
        get("/runs/{run}/why", "decisions", "All decisions", list(why::list))
            .query::<At>()
            .answers::<Page<why::WhyItem>>(),
        get("/runs/{run}/why/{place}", "why", "Why something was decided", parts::explain)
            .query::<At>()
            .answers::<Page<why::Explanation>>(),
        get("/runs/{run}/events", "lines", "Recorded lines", parts::lines)
            .query::<parts::Lines>()
            .answers::<Page<events::EventLine>>(),
        get(
            "/runs/{run}/artifacts",
            "artifacts",
            "Files that tasks promised",
            list(artifacts::artifacts),
        )
        .query::<At>()
        .answers::<Page<artifacts::ArtifactItem>>(),
        get("/runs/{run}/blobs/{digest}", "blob", "A stored text", parts::blob).media("text/plain"),
    ]
}

fn act_operations() -> Vec<Operation> {
    vec![
        post(
            "/runs/{run}/questions/{question}/answer",
            "answer",
            "Answer a question",
            inbox::answer,
        )
        .body::<inbox::Answer>()
        .answers::<inbox::Delivery>(),
        post("/runs/{run}/plan/approve", "approve_plan", "Carry the plan out", acts::approve_plan)
            .answers::<inbox::Delivery>(),
        post(
            "/runs/{run}/plan/reject",
            "reject_plan",
            "Send the plan back, or end the run",
            acts::reject_plan,
        )
        .body::<acts::Reason>()
        .answers::<inbox::Delivery>(),
        post("/runs/{run}/pause", "pause", "Stop, to be resumed", acts::pause)
            .answers::<run::RunDetail>(),
        post("/runs/{run}/resume", "resume", "Go on", acts::resume).answers::<run::RunDetail>(),
        post("/runs/{run}/cancel", "cancel", "Stop for good", acts::cancel)
            .body::<acts::Reason>()
            .answers::<run::RunDetail>(),
        post("/runs/{run}/accept", "accept", "Take the result", acts::accept)
            .body::<acts::How>()
            .answers::<run::RunDetail>(),
        post(
            "/runs/{run}/tests",
            "add_tests",
            "Put the tests by another author that an accepted result passed on top of it",
            acts::add_tests,
        )
        .answers::<acts::AddedTests>(),
        post("/runs/{run}/discard", "discard", "Throw the result away", acts::discard)
            .answers::<run::RunDetail>(),
    ]
}

fn session_operations() -> Vec<Operation> {
    vec![
        get("/sessions", "sessions", "Conversations, the newest first", sessions::list)
            .answers::<Page<sessions::SessionItem>>(),
        post("/sessions", "open_session", "Begin a conversation", sessions::open)
            .body::<WantedSession>()
            .makes::<CreatedRun>(),
        get("/sessions/{run}", "session", "A conversation", sessions::show)
            .answers::<sessions::SessionItem>(),
        delete("/sessions/{run}", "close_session", "End a conversation", sessions::close)
            .answers::<inbox::Delivery>(),
        post("/sessions/{run}/input", "say", "Say something", sessions::input)
            .body::<sessions::Message>()
            .answers::<inbox::Delivery>(),
        post("/sessions/{run}/answer", "answer_session", "Answer what it asks", sessions::answer)
            .body::<sessions::SessionAnswer>()
            .answers::<inbox::Delivery>(),
        post("/sessions/{run}/stop", "stop_session", "Stop what it does", sessions::stop)
            .answers::<inbox::Delivery>(),
        get(
            "/sessions/{run}/transcript",
            "session_transcript",
            "What was said and done",
            sessions::transcript,
        )
        .answers::<Page<engine::export::TranscriptEntry>>(),
    ]
}

fn stream_operations() -> Vec<Operation> {
    let mut socket = get("/ws", "socket", "The same over a WebSocket", ws::follow);
    socket.status = 101;
    vec![
        get("/events", "events", "What is recorded, as it is", sse::follow)
            .query::<sse::StreamQuery>()
            .media("text/event-stream"),
        socket,
    ]
}
