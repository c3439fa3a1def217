//! Asks a real server the same fifteen things in each dialect that it speaks and prints a table:
//! `cargo run -p llm --example parity -- http://127.0.0.1:18080 chat responses messages`.
//! A small model may answer badly; the rows ask only for what the layer promises.

#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a program for the terminal")]

use std::sync::Arc;
use std::time::Instant;

use futures::StreamExt;
use llm::{Dialect, Http, Model, Provider, Quirks, Registry, Settings, gather, structured};
use serde_json::json;
use types::{
    AttemptId, CallOutcome, CallResult, Effort, Fault, Message, ModelOptions, ModelReply,
    ModelRequest, Origin, OutputSchema, Part, RoleId, SessionId, Span, StopReason, StreamItem,
    TaskId, ToolChoice, ToolSpec,
};

type Verdict = Result<bool, Fault>;

struct Server {
    streamed: Registry,
    whole: Registry,
    model: String,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments.next().ok_or("name a server's URL, then dialects")?;
    let dialects: Vec<String> = arguments.collect();
    let mut columns = vec![];
    for dialect in Dialect::ALL.into_iter().filter(|d| dialects.iter().any(|word| word == d.word()))
    {
        columns.push((dialect, column(dialect, &url).await?));
    }
    let rows = columns.first().map(|(_, column)| column.len()).unwrap_or_default();
    print!("{:34}", "");
    columns.iter().for_each(|(dialect, _)| print!("{:24}", dialect.word()));
    println!();
    for row in 0..rows {
        print!("{:34}", columns[0].1[row].0);
        columns.iter().for_each(|(_, column)| print!("{:24.23}", column[row].1));
        println!();
    }
    Ok(())
}

fn registry(
    dialect: Dialect,
    url: &str,
    http: Arc<Http>,
) -> Result<Registry, Box<dyn std::error::Error>> {
    let settings = Settings::parse("[retry]\nmax_tries = 1\n")?;
    let mut registry = Registry::new(settings, |_| None, http)?;
    registry.add(Provider {
        name: "live".to_owned(),
        dialect,
        base_url: url.to_owned(),
        key: Some("none".into()),
        headers: std::collections::BTreeMap::new(),
        quirks: Quirks::default(),
    });
    Ok(registry)
}

async fn column(
    dialect: Dialect,
    url: &str,
) -> Result<Vec<(&'static str, String)>, Box<dyn std::error::Error>> {
    let http = Arc::new(Http::new(Span::seconds(5))?);
    let server = Server {
        streamed: registry(dialect, url, http.clone())?,
        whole: registry(dialect, url, http)?.in_one_piece(),
        model: "live/local".to_owned(),
    };
    let s = &server;
    Ok(vec![
        ("text", cell(text(s, &s.streamed)).await),
        ("text in one piece", cell(text(s, &s.whole)).await),
        ("pieces add up to the reply", cell(adds_up(s)).await),
        ("a conversation of several turns", cell(turns(s)).await),
        ("usage is counted", cell(usage(s)).await),
        ("the output limit", cell(limit(s)).await),
        ("a text to stop at", cell(stop_at(s)).await),
        ("a tool must be called", cell(tool(s, ToolChoice::Required)).await),
        ("this tool must be called", cell(tool(s, ToolChoice::Named("weather".to_owned()))).await),
        ("no tool may be called", cell(no_tool(s)).await),
        ("results go back, ids repeat", cell(results(s)).await),
        ("structured output", cell(schema(s)).await),
        ("effort is accepted", cell(effort(s)).await),
        ("a wrong request is a fault", cell(wrong(s)).await),
        ("dropping the stream ends the call", cell(dropped(s)).await),
    ])
}

async fn cell(row: impl Future<Output = Verdict>) -> String {
    let begin = Instant::now();
    match row.await {
        Ok(true) => format!("ok {:.1} s", begin.elapsed().as_secs_f64()),
        Ok(false) => "not by this server".to_owned(),
        Err(fault) => format!("{} {}", fault.code, fault.what),
    }
}

fn request(server: &Server, messages: Vec<Message>) -> ModelRequest {
    let model = server.model.parse();
    #[expect(clippy::expect_used, reason = "the name is written above")]
    ModelRequest {
        model: model.expect("a model"),
        system: Arc::from("You are brief."),
        messages: messages.into_iter().map(Arc::new).collect(),
        tools: Arc::from([]),
        max_output: 48,
        origin: Origin {
            role: RoleId::fixed("parity"),
            attempt: AttemptId::new(TaskId::fixed("parity"), 1),
            session: SessionId::ROOT,
            turn: 1,
        },
        options: ModelOptions { temperature: Some(0.0), ..ModelOptions::default() },
    }
}

async fn ask(registry: &Registry, request: ModelRequest) -> Result<ModelReply, Fault> {
    gather(registry.stream(Arc::new(request)), |_| {}).await
}

fn hello() -> Vec<Message> {
    vec![Message::user("Say hello.")]
}

async fn text(server: &Server, registry: &Registry) -> Verdict {
    Ok(!ask(registry, request(server, hello())).await?.text().is_empty())
}

async fn adds_up(server: &Server) -> Verdict {
    let mut pieces = String::new();
    let stream = server.streamed.stream(Arc::new(request(server, hello())));
    let collect = |item: &StreamItem| {
        if let StreamItem::Text(piece) = item {
            pieces.push_str(piece);
        }
    };
    let reply = gather(stream, collect).await?;
    Ok(pieces == reply.text() && !pieces.is_empty())
}

async fn turns(server: &Server) -> Verdict {
    let first = ask(&server.streamed, request(server, hello())).await?;
    let model = server.model.parse().ok();
    let said = Message::Assistant { blocks: first.blocks, model };
    let mut messages = hello();
    messages.extend([said, Message::user("And goodbye.")]);
    Ok(!ask(&server.streamed, request(server, messages)).await?.text().is_empty())
}

async fn usage(server: &Server) -> Verdict {
    let reply = ask(&server.streamed, request(server, hello())).await?;
    Ok(reply.provenance.usage.is_some() && reply.usage.input > 0 && reply.usage.output > 0)
}

async fn limit(server: &Server) -> Verdict {
    let mut request = request(server, vec![Message::user("Count from 1 to 1000.")]);
    request.max_output = 4;
    Ok(ask(&server.streamed, request).await?.stop == StopReason::Length)
}

async fn stop_at(server: &Server) -> Verdict {
    let mut request = request(server, vec![Message::user("Repeat: one two three four")]);
    request.options.stop_at = vec!["three".to_owned()];
    Ok(!ask(&server.streamed, request).await?.text().contains("three"))
}

fn with_tool(server: &Server, choice: ToolChoice) -> ModelRequest {
    let mut request = request(server, vec![Message::user("What is the weather in Rome?")]);
    let schema = json!({
        "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"],
    });
    let (name, description) = ("weather".to_owned(), "the weather of a city".to_owned());
    request.tools = Arc::from([ToolSpec { name, description, schema }]);
    request.options.tool_choice = choice;
    request
}

async fn tool(server: &Server, choice: ToolChoice) -> Verdict {
    let reply = ask(&server.streamed, with_tool(server, choice)).await?;
    let called = reply.calls().next().is_some_and(|call| call.tool == "weather");
    Ok(called && (reply.stop == StopReason::Calls || reply.stop == StopReason::Length))
}

async fn no_tool(server: &Server) -> Verdict {
    Ok(ask(&server.streamed, with_tool(server, ToolChoice::None)).await?.calls().next().is_none())
}

async fn results(server: &Server) -> Verdict {
    let mut request = with_tool(server, ToolChoice::Auto);
    for city in ["Rome", "Oslo"] {
        let arguments = types::Arguments::Json(json!({ "city": city }));
        let (wire_id, tool) = ("same".to_owned(), "weather".to_owned());
        let call = types::Call { wire_id: wire_id.clone(), tool: tool.clone(), arguments };
        let blocks = vec![types::Block::call(call)];
        let parts = vec![Part::Text { text: format!("{city}: sunny") }];
        let result = CallResult { wire_id, tool, outcome: CallOutcome::Ok, parts };
        request.messages.push(Arc::new(Message::Assistant { blocks, model: None }));
        request.messages.push(Arc::new(Message::Results { results: vec![result] }));
    }
    ask(&server.streamed, request).await.map(|reply| reply.usage.input > 0)
}

async fn schema(server: &Server) -> Verdict {
    let schema = json!({
        "type": "object", "properties": { "age": { "type": "integer" } }, "required": ["age"],
        "additionalProperties": false,
    });
    let wanted = OutputSchema { name: "person".to_owned(), schema };
    let mut request = request(server, vec![Message::user("A person is 30 years old.")]);
    request.options.output = Some(wanted.clone());
    structured(&ask(&server.streamed, request).await?, &wanted).map(|_| true)
}

async fn effort(server: &Server) -> Verdict {
    let mut request = request(server, hello());
    request.options.effort = Some(Effort::Low);
    Ok(!ask(&server.streamed, request).await?.blocks.is_empty())
}

async fn wrong(server: &Server) -> Verdict {
    let mut request = request(server, hello());
    request.options.native.insert("temperature".to_owned(), json!("warm"));
    request.options.native.insert("messages".to_owned(), json!(17));
    request.options.native.insert("input".to_owned(), json!(17));
    match ask(&server.streamed, request).await {
        Ok(_) => Ok(false),
        Err(fault) => Ok(fault.code.starts_with("model.")),
    }
}

async fn dropped(server: &Server) -> Verdict {
    let mut stream = server.streamed.stream(Arc::new(request(server, hello())));
    let first = stream.next().await;
    drop(stream);
    Ok(first.is_some() && text(server, &server.streamed).await?)
}
