//! `tollgate convert litellm FILE`: converts a LiteLLM `config.yaml` to a `tollgate.toml`.
//!
//! Settings without a counterpart are listed on standard error by their LiteLLM names: silently
//! dropping a budget or a guardrail would be worse than not converting. A model without a price is
//! an error, because it would be sold at 0.

mod facts;
mod toml_writer;

use std::collections::BTreeSet;
use std::path::Path;

use indexmap::IndexMap;
use yaml_rust2::{Yaml, YamlLoader};

use self::facts::{KnownPrice, KnownRates, ModelFacts, find_facts};
use crate::args::LitellmArgs;
use crate::commands::engine_discovery::{quote_toml_string, to_catalogue_id};
use crate::failure::CommandError;
use crate::output::{print_note, print_text};

const FILE_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// LiteLLM prices are per token, ours per million tokens.
const PER_MILLION: f64 = 1_000_000.0;

/// A provider, by its prefix in LiteLLM's `model`.
struct KnownProvider {
    prefix: &'static str,
    kind: &'static str,
    base_url: &'static str,
    /// None for the default dialect.
    dialect: Option<&'static str>,
    /// True if LiteLLM expects the base URL without `/v1` and appends it.
    adds_version: bool,
}

const fn known_openai_provider(prefix: &'static str, base_url: &'static str) -> KnownProvider {
    KnownProvider { prefix, kind: "openai", base_url, dialect: None, adds_version: false }
}

const PROVIDERS: &[KnownProvider] = &[
    KnownProvider {
        dialect: Some("openai"),
        ..known_openai_provider("openai", "https://api.openai.com/v1")
    },
    KnownProvider {
        kind: "anthropic",
        adds_version: true,
        ..known_openai_provider("anthropic", "https://api.anthropic.com/v1")
    },
    KnownProvider {
        dialect: Some("openrouter"),
        ..known_openai_provider("openrouter", "https://openrouter.ai/api/v1")
    },
    known_openai_provider("groq", "https://api.groq.com/openai/v1"),
    known_openai_provider("mistral", "https://api.mistral.ai/v1"),
    known_openai_provider("deepseek", "https://api.deepseek.com/v1"),
    known_openai_provider("together_ai", "https://api.together.xyz/v1"),
    known_openai_provider("fireworks_ai", "https://api.fireworks.ai/inference/v1"),
    known_openai_provider("xai", "https://api.x.ai/v1"),
    OLLAMA,
    KnownProvider { prefix: "ollama_chat", ..OLLAMA },
    KnownProvider {
        adds_version: true,
        ..known_openai_provider("hosted_vllm", "http://127.0.0.1:8000/v1")
    },
    KnownProvider {
        adds_version: true,
        ..known_openai_provider("lm_studio", "http://127.0.0.1:1234/v1")
    },
];

const OLLAMA: KnownProvider = KnownProvider {
    dialect: Some("ollama"),
    adds_version: true,
    ..known_openai_provider("ollama", "http://127.0.0.1:11434/v1")
};

/// Our capability names, by LiteLLM's names in `model_info`.
const CAPABILITIES: &[(&str, &str)] = &[
    ("supports_function_calling", "tools"),
    ("supports_vision", "vision"),
    ("supports_reasoning", "reasoning"),
    ("supports_response_schema", "json_schema"),
    ("supports_audio_input", "audio_input"),
];

/// Keys of `litellm_params` that are converted.
const PARAMETERS: &[&str] = &[
    "model",
    "api_base",
    "api_key",
    "weight",
    "input_cost_per_token",
    "output_cost_per_token",
    "cache_read_input_token_cost",
    "cache_creation_input_token_cost",
];

/// The outcome of a conversion.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ConversionOutcome {
    pub(crate) toml: String,
    pub(crate) left_out: Vec<String>,
    /// Models that would be sold at 0 without an explicit price of 0.
    pub(crate) unpriced: Vec<String>,
}

#[derive(Default)]
struct ConversionDraft {
    /// Providers as TOML, by id.
    providers: IndexMap<String, String>,
    /// The routes of each model, by public model name.
    models: IndexMap<String, Vec<RouteDraft>>,
    /// The environment variable chosen for each literal key, by prefix and key.
    variables: IndexMap<(String, String), String>,
    /// Environment variables that the LiteLLM file refers to.
    taken_variables: BTreeSet<String>,
    left_out: Vec<String>,
}

struct RouteDraft {
    provider: String,
    upstream_id: String,
    weight: Option<i64>,
    /// None if neither the file nor the table of model facts has a price.
    price: Option<KnownPrice>,
    /// True if the price is from the LiteLLM file.
    is_price_given: bool,
    facts: ModelFacts,
}

pub(crate) fn run_convert_command(command: &LitellmArgs) -> Result<(), CommandError> {
    let shown = command.file.display();
    let converted = read_litellm_file(&command.file)
        .and_then(|text| convert_litellm(&text))
        .map_err(|error| CommandError::Failed(format!("cannot read {shown}: {error}")))?;
    if !command.free && !converted.unpriced.is_empty() {
        return Err(CommandError::Failed(format!(
            "no price is known for {}: give each an `input_cost_per_token` and an \
             `output_cost_per_token` in {shown}, or pass --free to sell them at 0",
            converted.unpriced.join(", ")
        )));
    }
    print_text(&converted.toml)?;
    for line in &converted.left_out {
        print_note(&format!("not converted: {line}"));
    }
    for name in &converted.unpriced {
        print_note(&format!("free: {name}"));
    }
    print_note("write the above to tollgate.toml, then run `tollgate config check`");
    Ok(())
}

fn read_litellm_file(file: &Path) -> Result<String, String> {
    let size = std::fs::metadata(file).map_err(|error| error.to_string())?.len();
    if FILE_BYTES_MAX < size {
        return Err(format!("it has more than {FILE_BYTES_MAX} bytes"));
    }
    std::fs::read_to_string(file).map_err(|error| error.to_string())
}

pub(crate) fn convert_litellm(text: &str) -> Result<ConversionOutcome, String> {
    let documents = YamlLoader::load_from_str(text).map_err(|error| error.to_string())?;
    let root = documents.first().ok_or("the file is empty")?;
    let sections = root.as_hash().ok_or("a LiteLLM configuration is a map")?;
    let mut draft = ConversionDraft::default();
    if let Some(entries) = root["model_list"].as_vec() {
        let keys = entries.iter().filter_map(|it| it["litellm_params"]["api_key"].as_str());
        let named = keys.filter_map(|key| key.strip_prefix("os.environ/"));
        draft.taken_variables = named.map(str::to_owned).collect();
    }
    for (name, content) in sections {
        match name.as_str().unwrap_or_default() {
            "model_list" => {
                for entry in content.as_vec().ok_or("model_list is no list")? {
                    draft.add_model(entry);
                }
            }
            "environment_variables" => draft
                .left_out
                .push("environment_variables: set them where the service starts".to_owned()),
            other => draft.list_unconverted_keys(other, content),
        }
    }
    if draft.models.is_empty() {
        return Err("there is no model_list, or none of its models can be converted".to_owned());
    }
    Ok(draft.render_toml())
}

impl ConversionDraft {
    /// Lists every key of a section other than the models as not converted.
    fn list_unconverted_keys(&mut self, name: &str, content: &Yaml) {
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

    fn add_model(&mut self, entry: &Yaml) {
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
        let Some(provider) = PROVIDERS.iter().find(|it| it.prefix == prefix) else {
            self.left_out.push(format!("model_list: `{name}`: no provider like `{prefix}` here"));
            return;
        };
        let info = &entry["model_info"];
        let facts = facts_of(prefix, upstream_id, info);
        if !["", "text", "embedding"].contains(&facts.model_type) {
            let line = format!(
                "model_list: `{name}`: a model of mode {}; write it by hand, see docs/engines.md",
                facts.model_type
            );
            self.left_out.push(line);
            return;
        }
        if facts.model_type == "embedding" && facts.dimensions.is_none() {
            let line = format!("model_list: `{name}`: model_info has no output_vector_size");
            self.left_out.push(line);
            return;
        }
        for (key, _) in parameters.as_hash().into_iter().flatten() {
            let key = key.as_str().unwrap_or("?");
            if !PARAMETERS.contains(&key) {
                self.left_out.push(format!("model_list: `{name}`: litellm_params.{key}"));
            }
        }
        let url = address_of(provider, parameters["api_base"].as_str());
        let provider =
            self.find_or_add_provider(provider, &url, &name, parameters["api_key"].as_str());
        let given = price_given(parameters, info);
        self.models.entry(name).or_default().push(RouteDraft {
            provider,
            upstream_id: upstream_id.to_owned(),
            weight: parameters["weight"].as_i64(),
            is_price_given: given.is_some(),
            price: given.or_else(|| facts.price.clone()),
            facts,
        });
    }

    /// Returns the provider for a base URL and key, named after its prefix; adds it if it is new.
    fn find_or_add_provider(
        &mut self,
        known: &KnownProvider,
        url: &str,
        model: &str,
        key: Option<&str>,
    ) -> String {
        let mut entry =
            format!("kind = \"{}\"\nbase_url = {}\n", known.kind, quote_toml_string(url));
        if let Some(dialect) = known.dialect {
            entry.push_str(&format!("dialect = \"{dialect}\"\n"));
        }
        if let Some(key) = key {
            let variable = match key.strip_prefix("os.environ/") {
                Some(variable) => variable.to_owned(),
                None => self.variable_for(known.prefix, key, model),
            };
            entry.push_str(&format!(
                "api_key = {}\n",
                quote_toml_string(&format!("env:{variable}"))
            ));
        }
        let stem = to_catalogue_id(&known.prefix.replace('_', "-"));
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

    /// Chooses the environment variable for a literal key; each key gets its own.
    fn variable_for(&mut self, prefix: &str, key: &str, model: &str) -> String {
        let place = (prefix.to_owned(), key.to_owned());
        if let Some(variable) = self.variables.get(&place) {
            return variable.clone();
        }
        let stem = format!("{}_API_KEY", prefix.to_uppercase());
        let numbered = (2..).map(|number| format!("{stem}_{number}"));
        let mut names = std::iter::once(stem.clone()).chain(numbered);
        let is_free = |name: &String| !self.taken_variables.contains(name);
        let variable = names.find(is_free).unwrap_or(stem);
        self.taken_variables.insert(variable.clone());
        self.left_out.push(format!("the api_key of `{model}`: put it into {variable}"));
        self.variables.insert(place, variable.clone());
        variable
    }
}

/// Returns the base URL, with the `/v1` that LiteLLM would append.
fn address_of(known: &KnownProvider, given: Option<&str>) -> String {
    let Some(given) = given else { return known.base_url.to_owned() };
    let given = given.trim_end_matches('/');
    let path = given.split_once("://").map_or(given, |(_, rest)| rest).split_once('/');
    if known.adds_version && path.is_none() { format!("{given}/v1") } else { given.to_owned() }
}

/// Returns the table's facts about a model, overridden by the LiteLLM file.
fn facts_of(prefix: &str, upstream_id: &str, info: &Yaml) -> ModelFacts {
    let base_model = info["base_model"].as_str().unwrap_or(upstream_id);
    let base_model = base_model.strip_prefix(&format!("{prefix}/")).unwrap_or(base_model);
    let mut facts = find_facts(prefix, base_model).unwrap_or_default();
    let count = |key: &str| info[key].as_i64().and_then(|it| u64::try_from(it).ok());
    let context = count("max_input_tokens").or(count("max_tokens"));
    facts.context_tokens = context.or(facts.context_tokens);
    facts.max_completion_tokens = count("max_output_tokens").or(facts.max_completion_tokens);
    facts.dimensions = count("output_vector_size").or(facts.dimensions);
    match info["mode"].as_str() {
        Some("chat" | "completion" | "responses") => facts.model_type = "text",
        Some("embedding") => facts.model_type = "embedding",
        Some("image_generation") => facts.model_type = "image_generation",
        Some("audio_speech") => facts.model_type = "audio_speech",
        Some("audio_transcription") => facts.model_type = "audio_transcription",
        Some("rerank") => facts.model_type = "rerank",
        _ => {}
    }
    for (theirs, ours) in CAPABILITIES {
        match info[*theirs].as_bool() {
            Some(true) if !facts.capabilities.contains(ours) => facts.capabilities.push(*ours),
            Some(false) => facts.capabilities.retain(|it| it != ours),
            _ => {}
        }
    }
    facts
}

fn price_given(parameters: &Yaml, info: &Yaml) -> Option<KnownPrice> {
    let number = |value: &Yaml| value.as_f64().or_else(|| Some(value.as_i64()? as f64));
    let cost = |key: &str| number(&parameters[key]).or_else(|| number(&info[key]));
    let rate = |key: &str| cost(key).map(per_million);
    let base = KnownRates {
        input: rate("input_cost_per_token")?,
        output: rate("output_cost_per_token").unwrap_or_else(|| "0".to_owned()),
        cache_input: rate("cache_read_input_token_cost"),
        cache_write: rate("cache_creation_input_token_cost"),
    };
    Some(KnownPrice { base, extended: None })
}

/// Formats a LiteLLM price as a decimal with the 6 digits that our prices have. Rounds a positive
/// price up to the smallest price instead of 0.
fn per_million(per_token: f64) -> String {
    let text = format!("{:.6}", per_token * PER_MILLION);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match text {
        "0" | "" if 0.0 < per_token => "0.000001".to_owned(),
        "" => "0".to_owned(),
        text => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
