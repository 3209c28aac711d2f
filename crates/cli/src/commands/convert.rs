//! `tollgate convert litellm FILE`: a LiteLLM `config.yaml` as a `tollgate.toml`.
//!
//! What has no counterpart here is said, in the file's own words, on standard error: a conversion
//! that silently drops a budget or a guardrail would be worse than none.

use std::fmt::Write;
use std::path::Path;

use indexmap::IndexMap;
use yaml_rust2::{Yaml, YamlLoader};

use crate::commands::look::{own_id, quoted};
use crate::failure::Failure;
use crate::output::{print, print_note};

const FILE_BYTES_MAX: u64 = 8 * 1024 * 1024;
const CONTEXT_TOKENS: i64 = 8192;
/// LiteLLM prices one token, we a million.
const PER_MILLION: f64 = 1_000_000.0;

/// A provider by its prefix in LiteLLM's `model`: our kind, and where it answers.
const PROVIDERS: &[(&str, &str, &str)] = &[
    ("openai", "openai", "https://api.openai.com/v1"),
    ("anthropic", "anthropic", "https://api.anthropic.com/v1"),
    ("openrouter", "openai", "https://openrouter.ai/api/v1"),
    ("groq", "openai", "https://api.groq.com/openai/v1"),
    ("mistral", "openai", "https://api.mistral.ai/v1"),
    ("deepseek", "openai", "https://api.deepseek.com/v1"),
    ("together_ai", "openai", "https://api.together.xyz/v1"),
    ("fireworks_ai", "openai", "https://api.fireworks.ai/inference/v1"),
    ("xai", "openai", "https://api.x.ai/v1"),
    ("ollama", "openai", "http://127.0.0.1:11434/v1"),
    ("ollama_chat", "openai", "http://127.0.0.1:11434/v1"),
    ("hosted_vllm", "openai", "http://127.0.0.1:8000/v1"),
    ("lm_studio", "openai", "http://127.0.0.1:1234/v1"),
];

/// What a conversion gives: the file, and what could not be carried over.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Converted {
    pub(crate) toml: String,
    pub(crate) left_out: Vec<String>,
}

#[derive(Default)]
struct Draft {
    /// Providers as TOML, by their ids.
    providers: IndexMap<String, String>,
    /// Each model's routes, by the name that callers use.
    models: IndexMap<String, Vec<Route>>,
    left_out: Vec<String>,
}

struct Route {
    provider: String,
    upstream_id: String,
    input: Option<f64>,
    output: Option<f64>,
    context_tokens: Option<i64>,
    weight: Option<i64>,
    is_embedding: bool,
}

pub(crate) fn run(file: &Path) -> Result<(), Failure> {
    let shown = file.display();
    let cannot =
        |error: &dyn std::fmt::Display| Failure::Failed(format!("cannot read {shown}: {error}"));
    let size = std::fs::metadata(file).map_err(|error| cannot(&error))?.len();
    if FILE_BYTES_MAX < size {
        return Err(cannot(&format!("it has more than {FILE_BYTES_MAX} bytes")));
    }
    let text = std::fs::read_to_string(file).map_err(|error| cannot(&error))?;
    let converted = convert(&text).map_err(|error| cannot(&error))?;
    print(&converted.toml)?;
    for line in &converted.left_out {
        print_note(&format!("not carried over: {line}"));
    }
    print_note("write the above to tollgate.toml, then run `tollgate config check`");
    Ok(())
}

pub(crate) fn convert(text: &str) -> Result<Converted, String> {
    let documents = YamlLoader::load_from_str(text).map_err(|error| error.to_string())?;
    let root = documents.first().ok_or("the file is empty")?;
    let sections = root.as_hash().ok_or("a LiteLLM configuration is a map")?;
    let mut draft = Draft::default();
    for (name, content) in sections {
        match name.as_str().unwrap_or_default() {
            "model_list" => {
                for entry in content.as_vec().ok_or("model_list is no list")? {
                    draft.model(entry);
                }
            }
            "environment_variables" => draft
                .left_out
                .push("environment_variables: set them where the service starts".to_owned()),
            other => draft.section(other, content),
        }
    }
    if draft.models.is_empty() {
        return Err("no model_list".to_owned());
    }
    Ok(draft.finish())
}

impl Draft {
    /// Everything but the models is told, key by key.
    fn section(&mut self, name: &str, content: &Yaml) {
        let Some(keys) = content.as_hash() else {
            self.left_out.push(name.to_owned());
            return;
        };
        for (key, _) in keys {
            let key = key.as_str().unwrap_or("?");
            let path = format!("{name}.{key}");
            self.left_out.push(match key {
                "master_key" => format!("{path}: start with TOLLGATE_ADMIN_KEY set to it"),
                "database_url" => format!("{path}: balances and keys are in our own database"),
                "fallbacks" | "context_window_fallbacks" => {
                    format!("{path}: write further routes as `also` of the model")
                }
                "num_retries" | "request_timeout" | "timeout" => {
                    format!("{path}: see timeout_s of [[provider]]")
                }
                _ => path,
            });
        }
    }

    fn model(&mut self, entry: &Yaml) {
        let name = entry["model_name"].as_str().unwrap_or_default().to_owned();
        let parameters = &entry["litellm_params"];
        let Some(model) = parameters["model"].as_str() else {
            self.left_out.push(format!("model_list: `{name}` has no litellm_params.model"));
            return;
        };
        if name.contains('*') || model.contains('*') {
            self.left_out.push(format!("model_list: `{name}`: wildcards; write each model out"));
            return;
        }
        let (prefix, upstream_id) = model.split_once('/').unwrap_or(("openai", model));
        let Some((prefix, kind, url)) = PROVIDERS.iter().find(|it| it.0 == prefix) else {
            self.left_out.push(format!("model_list: `{name}`: no provider like `{prefix}` here"));
            return;
        };
        let known = [
            "model",
            "api_base",
            "api_key",
            "input_cost_per_token",
            "weight",
            "output_cost_per_token",
        ];
        for (key, _) in parameters.as_hash().into_iter().flatten() {
            let key = key.as_str().unwrap_or("?");
            if !known.contains(&key) {
                self.left_out.push(format!("model_list: `{name}`: litellm_params.{key}"));
            }
        }
        let url = parameters["api_base"].as_str().unwrap_or(url);
        let provider = self.provider(prefix, kind, url, parameters["api_key"].as_str());
        let info = &entry["model_info"];
        let number = |value: &Yaml| value.as_f64().or_else(|| Some(value.as_i64()? as f64));
        let price = |key: &str| number(&parameters[key]).or_else(|| number(&info[key]));
        self.models.entry(name).or_default().push(Route {
            provider,
            upstream_id: upstream_id.to_owned(),
            input: price("input_cost_per_token"),
            output: price("output_cost_per_token"),
            context_tokens: info["max_input_tokens"].as_i64().or(info["max_tokens"].as_i64()),
            weight: parameters["weight"].as_i64(),
            is_embedding: info["mode"].as_str() == Some("embedding"),
        });
    }

    /// One provider for each address and key, named after its prefix.
    fn provider(&mut self, prefix: &str, kind: &str, url: &str, key: Option<&str>) -> String {
        let mut entry = format!("kind = \"{kind}\"\nbase_url = {}\n", quoted(url));
        match key.map(|key| (key, key.strip_prefix("os.environ/"))) {
            Some((_, Some(variable))) => {
                let _ = writeln!(entry, "api_key = {}", quoted(&format!("env:{variable}")));
            }
            Some(_) => {
                let variable = format!("{}_API_KEY", prefix.to_uppercase());
                let _ = writeln!(entry, "api_key = \"env:{variable}\"");
                let line = format!("a key that stood in the file: put it into {variable}");
                if !self.left_out.contains(&line) {
                    self.left_out.push(line);
                }
            }
            None => {}
        }
        let stem = own_id(&prefix.replace('_', "-"));
        for number in 1.. {
            let id = if number == 1 { stem.clone() } else { format!("{stem}-{number}") };
            match self.providers.get(&id) {
                Some(known) if *known == entry => return id,
                Some(_) => {}
                None => {
                    self.providers.insert(id.clone(), entry);
                    return id;
                }
            }
        }
        unreachable!("there is always another number")
    }

    fn finish(mut self) -> Converted {
        let mut toml = String::from("# Made from a LiteLLM configuration by `tollgate convert`.\n");
        for (id, entry) in &self.providers {
            let _ = write!(toml, "\n[[provider]]\nid = \"{id}\"\n{entry}");
        }
        let mut is_first = true;
        for (name, routes) in &self.models {
            let Some((first, others)) = routes.split_first() else { continue };
            let id = own_id(name);
            let kind = if first.is_embedding { "embedding" } else { "text" };
            let _ = write!(
                toml,
                "\n[[model]]\nid = \"{id}\"\ntype = \"{kind}\"\nprovider = \"{}\"\nupstream_id = {}\n",
                first.provider,
                quoted(&first.upstream_id)
            );
            if id != *name {
                let _ = writeln!(toml, "aliases = [{}]", quoted(name));
            }
            if first.is_embedding {
                toml.push_str("dimensions = 1536  # as long as its vectors are\n");
            } else {
                let context = first.context_tokens.unwrap_or(CONTEXT_TOKENS);
                let _ = writeln!(toml, "tier = \"M\"\ncontext_tokens = {context}");
                if is_first {
                    toml.push_str("traits = [\"default\"]\n");
                    is_first = false;
                }
            }
            let price = |per_token: Option<f64>| per_million(per_token.unwrap_or_default());
            let _ = writeln!(
                toml,
                "price = {{ input_usd_per_million = \"{}\", output_usd_per_million = \"{}\" }}",
                price(first.input),
                price(first.output)
            );
            if first.input.is_none() {
                let line = format!("`{name}` has no price: it is free until you give it one");
                self.left_out.push(line);
            }
            if let Some(weight) = first.weight {
                let _ = writeln!(toml, "weight = {weight}");
            }
            if !others.is_empty() {
                let also: Vec<String> = others.iter().map(also).collect();
                let _ = writeln!(toml, "also = [{}]", also.join(", "));
            }
        }
        Converted { toml, left_out: self.left_out }
    }
}

fn also(route: &Route) -> String {
    let weight = route.weight.map(|it| format!(", weight = {it}")).unwrap_or_default();
    let upstream_id = quoted(&route.upstream_id);
    format!("{{ provider = \"{}\", upstream_id = {upstream_id}{weight} }}", route.provider)
}

/// A float of LiteLLM's as the decimal that its author wrote.
fn per_million(per_token: f64) -> String {
    let text = format!("{:.6}", per_token * PER_MILLION);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text.is_empty() { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LITELLM: &str = r#"
model_list:
  - model_name: gpt-4o
    litellm_params:
      model: openai/gpt-4o
      api_key: os.environ/OPENAI_API_KEY
      input_cost_per_token: 0.0000025
      output_cost_per_token: 0.00001
      rpm: 60
  - model_name: gpt-4o
    litellm_params:
      model: hosted_vllm/meta/llama-3
      api_base: http://10.0.0.5:8000/v1
  - model_name: claude
    litellm_params:
      model: anthropic/claude-sonnet
      api_key: sk-in-the-file
  - model_name: "bedrock/*"
    litellm_params:
      model: "bedrock/*"
litellm_settings:
  drop_params: true
general_settings:
  master_key: sk-1234
"#;

    #[test]
    fn models_of_one_name_become_routes_of_one_model() {
        let converted = convert(LITELLM).unwrap();
        let toml = &converted.toml;
        assert!(toml.contains("input_usd_per_million = \"2.5\""), "{toml}");
        assert!(toml.contains("output_usd_per_million = \"10\""), "{toml}");
        assert!(toml.contains("api_key = \"env:OPENAI_API_KEY\""), "{toml}");
        let also = "also = [{ provider = \"hosted-vllm\", upstream_id = \"meta/llama-3\" }]";
        assert!(toml.contains(also), "{toml}");
        assert_eq!(toml.matches("[[model]]").count(), 2, "{toml}");
    }

    #[test]
    fn what_has_no_counterpart_is_said_and_keys_are_not_copied() {
        let Converted { toml, left_out } = convert(LITELLM).unwrap();
        let told = left_out.join("\n");
        for expected in ["rpm", "drop_params", "master_key", "wildcards", "ANTHROPIC_API_KEY"] {
            assert!(told.contains(expected), "{expected} in {told}");
        }
        assert!(!toml.contains("sk-in-the-file") && !told.contains("sk-in-the-file"));
    }

    #[test]
    fn a_file_that_is_something_else_is_refused_in_words() {
        assert!(convert("just a text").is_err());
        assert!(convert("a: [").is_err());
        assert!(convert("a: 1").is_err());
    }

    #[test]
    fn what_was_made_is_a_configuration_that_can_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tollgate.toml");
        std::fs::write(&file, convert(LITELLM).unwrap().toml).unwrap();
        let pairs = [("OPENAI_API_KEY", "x"), ("ANTHROPIC_API_KEY", "y")];
        let request = config::sources::Request {
            file: Some(file),
            environment: pairs
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into_iter()
                .collect(),
            flags: Vec::new(),
            folder: folder.path().to_owned(),
        };
        let read = config::sources::Sources::gather(&request).read();
        let config = read.unwrap_or_else(|invalid| panic!("{invalid}"));
        assert_eq!(config.models.len(), 2);
    }
}
