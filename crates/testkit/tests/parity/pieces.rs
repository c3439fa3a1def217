//! Streams of every family: their pieces make up the reply.

use std::sync::Arc;

use runtime::llm::gather;
use serde_json::json;
use testkit::wire::{Answer, Reply, WireServer};
use types::{
    AttemptId, Family, Message, ModelOptions, ModelRequest, Origin, RoleId, SessionId, StreamItem,
    TaskId, ToolSpec,
};

fn request(family: Family) -> ModelRequest {
    let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    let (name, description) = ("read_file".to_owned(), "Reads.".to_owned());
    ModelRequest {
        model: WireServer::model(family),
        system: Arc::from("You are brief."),
        messages: vec![Arc::new(Message::user("Look."))],
        tools: Arc::from([ToolSpec { name, description, schema }]),
        max_output: 1_000,
        origin: Origin {
            role: RoleId::fixed("parity"),
            attempt: AttemptId::new(TaskId::fixed("parity"), 1),
            session: SessionId::ROOT,
            turn: 1,
        },
        options: ModelOptions::default(),
    }
}

/// K14: the pieces of a stream add up to its last item, which is also the result for callers that wait for the whole
/// reply.
#[tokio::test]
async fn the_pieces_of_a_stream_are_the_whole_reply() {
    for family in Family::ALL {
        for reply in [
            Reply::say("Ahoy, and a fair wind."),
            Reply::call("read_file", json!({ "path": "a" }))
                .and("read_file", json!({ "path": "b" })),
        ] {
            let answers = vec![Answer::from(reply.clone()), Answer::from(reply)];
            let server = WireServer::telling(answers).await.expect("a server");
            let registry = server.registry().expect("a registry");
            let asked = request(family);
            let mut pieces = String::new();
            let model = registry.model(&asked.model).expect("a model");
            let of_stream = gather(model.stream(Arc::new(asked.clone())), |item| {
                if let StreamItem::Text(piece) = item {
                    pieces.push_str(piece);
                }
            });
            let of_stream = of_stream.await.expect("a reply");
            let at_once = registry.complete(asked, |_| {}).await.expect("a reply");
            let name = family.as_str();
            assert_eq!(pieces, of_stream.text(), "{name}");
            assert_eq!(of_stream.text(), at_once.text(), "{name}");
            let made = |reply: &types::ModelReply| -> Vec<_> {
                let calls = reply.calls();
                calls.map(|call| (call.tool.clone(), call.arguments.clone())).collect()
            };
            assert_eq!(made(&of_stream), made(&at_once), "{name}");
            assert_eq!((of_stream.stop, of_stream.usage), (at_once.stop, at_once.usage), "{name}");
            assert!(!of_stream.text().is_empty() || of_stream.calls().count() == 2, "{name}");
            assert_eq!(server.broken(), Vec::<String>::new(), "{name}");
        }
    }
}
