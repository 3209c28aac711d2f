//! Finds engines on this machine by their default ports.

use std::fmt::Write;
use std::time::Duration;

use futures_util::future::join_all;
use http::header::ACCEPT;
use http::{HeaderMap, HeaderValue};
use outbound::{ConnectSettings, ConnectVia, OutboundClient, RequestTarget};
use serde_json::Value;
use tokio::time::timeout;
use url::Url;

use crate::failure::CommandError;

/// Short, because a server on loopback answers immediately.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(700);
const ANSWER_BYTES_MAX: usize = 2 * 1024 * 1024;
const MODELS_MAX: usize = 50;
/// Placeholder for the operator to correct; all current models support this context size.
const CONTEXT_TOKENS: u32 = 8192;

/// An engine in its default setup.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EngineCandidate {
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) port: u16,
    /// The path requested to detect the engine and list its models.
    pub(crate) path: &'static str,
    /// The path after the port in `base_url`.
    pub(crate) base: &'static str,
}

pub(crate) const CANDIDATES: &[EngineCandidate] = &[
    openai_candidate("ollama", "Ollama", 11434),
    openai_candidate("vllm", "vLLM", 8000),
    openai_candidate("llamacpp", "llama.cpp", 8080),
    openai_candidate("lmstudio", "LM Studio", 1234),
    EngineCandidate {
        id: "comfyui",
        name: "ComfyUI",
        kind: "comfyui",
        port: 8188,
        path: "/system_stats",
        base: "",
    },
    EngineCandidate {
        id: "a1111",
        name: "Stable Diffusion web UI (A1111)",
        kind: "a1111",
        port: 7860,
        path: "/sdapi/v1/sd-models",
        base: "",
    },
];

const fn openai_candidate(id: &'static str, name: &'static str, port: u16) -> EngineCandidate {
    EngineCandidate { id, name, kind: "openai", port, path: "/v1/models", base: "/v1" }
}

/// An engine that was found.
#[derive(Debug)]
pub(crate) struct FoundEngine {
    pub(crate) candidate: EngineCandidate,
    /// The names of its models, if the engine lists them.
    pub(crate) models: Vec<String>,
}

pub(crate) async fn find_engines(
    candidates: &[EngineCandidate],
) -> Result<Vec<FoundEngine>, CommandError> {
    let settings = ConnectSettings {
        way: ConnectVia::Straight,
        connect_timeout: ANSWER_TIMEOUT,
        idle_max: ANSWER_TIMEOUT,
    };
    let client = OutboundClient::new(settings);
    let client = client.map_err(|error| CommandError::Failed(error.to_string()))?;
    let asked = candidates.iter().map(|candidate| async {
        let url = format!("http://127.0.0.1:{}{}", candidate.port, candidate.path);
        let answer = timeout(ANSWER_TIMEOUT, fetch_json(&client, &url)).await.ok()??;
        let models = parse_model_names(candidate, &answer)?;
        Some(FoundEngine { candidate: *candidate, models })
    });
    Ok(join_all(asked).await.into_iter().flatten().collect())
}

/// Sends a GET request. Returns JSON bodies with status 200 only.
async fn fetch_json(client: &OutboundClient, url: &str) -> Option<Value> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    let target = RequestTarget::new(client, &Url::parse(url).ok()?, headers).ok()?;
    let response = client.get(&target, "").await.ok().filter(|it| it.status() == 200)?;
    let body = response.read_whole(ANSWER_BYTES_MAX).await.ok()?;
    serde_json::from_slice(&body).ok()
}

/// Returns the engine's model names; None if the response is not from this engine.
fn parse_model_names(candidate: &EngineCandidate, answer: &Value) -> Option<Vec<String>> {
    let named = |list: &Value, key: &str| -> Option<Vec<String>> {
        let names = list.as_array()?.iter().filter_map(|it| it[key].as_str());
        Some(names.map(str::to_owned).take(MODELS_MAX).collect())
    };
    match candidate.id {
        "comfyui" => answer["system"].is_object().then(Vec::new),
        "a1111" => named(answer, "model_name"),
        _ => named(&answer["data"], "id"),
    }
}

/// Renders the found engines as configuration entries.
pub(crate) fn render_engine_entries(found: &[FoundEngine]) -> String {
    let mut text = String::new();
    let mut has_default = false;
    for FoundEngine { candidate, models } in found {
        let EngineCandidate { id, name, kind, port, base, .. } = candidate;
        let _ = writeln!(
            text,
            "\n# {name}, found on this machine.\n[[provider]]\nid = \"{id}\"\nkind = \"{kind}\"\n\
             base_url = \"http://127.0.0.1:{port}{base}\""
        );
        if *kind != "openai" {
            text.push_str("# Its models are entries of type \"image\": see docs/engines.md.\n");
            continue;
        }
        for model in models {
            let (id, upstream_id) = (to_catalogue_id(model), quote_toml_string(model));
            if is_embedding(model) {
                let _ = writeln!(
                    text,
                    "\n# An embedding model: say how long its vectors are, then uncomment it.\n\
                     #[[model]]\n#id = \"{id}\"\n#type = \"embedding\"\n#provider = \"{}\"\n\
                     #upstream_id = {upstream_id}\n#dimensions = 768\n\
                     #price = {{ input_usd_per_million = \"0.02\", output_usd_per_million = \"0\" }}",
                    candidate.id
                );
                continue;
            }
            let _ = writeln!(
                text,
                "\n[[model]]\nid = \"{id}\"\ntype = \"text\"\nprovider = \"{}\"\n\
                 upstream_id = {upstream_id}\ntier = \"S\"\ncontext_tokens = {CONTEXT_TOKENS}",
                candidate.id
            );
            if !has_default {
                text.push_str("traits = [\"default\"]\n");
                has_default = true;
            }
            text.push_str(
                "price = { input_usd_per_million = \"0.10\", output_usd_per_million = \"0.40\" }\n",
            );
        }
    }
    text
}

fn is_embedding(model: &str) -> bool {
    let lower = model.to_lowercase();
    ["embed", "bge-", "minilm", "e5-"].iter().any(|it| lower.contains(it))
}

/// Converts a name to a valid catalogue id: lower case letters, digits and `-_.`.
pub(crate) fn to_catalogue_id(name: &str) -> String {
    let plain = |letter: char| {
        let letter = letter.to_ascii_lowercase();
        if letter.is_ascii_alphanumeric() || "-_.".contains(letter) { letter } else { '-' }
    };
    let id: String = name.trim_end_matches(":latest").chars().map(plain).take(64).collect();
    id.trim_matches('-').to_owned()
}

pub(crate) fn quote_toml_string(text: &str) -> String {
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    #[expect(clippy::disallowed_methods, reason = "the engine ends with the test")]
    async fn engine(answer: &'static str) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = [0; 1024];
                let _ = stream.read(&mut request).await;
                let text =
                    format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{answer}");
                let _ = stream.write_all(text.as_bytes()).await;
            }
        });
        port
    }

    #[tokio::test]
    async fn an_engine_that_answers_is_written_with_its_models() {
        let answer = r#"{"data":[{"id":"Llama 3.2:latest"},{"id":"nomic-embed-text"}]}"#;
        let port = engine(answer).await;
        let silent = EngineCandidate { port: 1, ..CANDIDATES[1] };
        let found =
            find_engines(&[EngineCandidate { port, ..CANDIDATES[0] }, silent]).await.unwrap();
        let written = render_engine_entries(&found);
        assert!(
            written.contains(&format!("base_url = \"http://127.0.0.1:{port}/v1\"")),
            "{written}"
        );
        assert!(written.contains("\nid = \"llama-3.2\"\n"), "{written}");
        assert!(written.contains("upstream_id = \"Llama 3.2:latest\""), "{written}");
        assert!(written.contains("#type = \"embedding\""), "{written}");
        assert!(!written.contains("vllm"), "{written}");
    }

    #[tokio::test]
    async fn something_else_at_the_port_is_no_engine() {
        let port = engine("{\"hello\": 1}").await;
        let candidates = CANDIDATES.iter().map(|it| EngineCandidate { port, ..*it });
        let found = find_engines(&candidates.collect::<Vec<_>>()).await.unwrap();
        assert!(found.is_empty());
    }
}
