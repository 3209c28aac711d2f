//! Tests of the conversion of LiteLLM configurations.

use config::read::ServiceConfig;
use domain::catalogue::{ModelSpec, TextCapability};

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
      input_cost_per_token: 0.000003
      output_cost_per_token: 0.000001
  - model_name: claude
    litellm_params:
      model: anthropic/claude-sonnet-4-5
      api_key: sk-in-the-file
  - model_name: "bedrock/*"
    litellm_params:
      model: "bedrock/*"
litellm_settings:
  drop_params: true
general_settings:
  master_key: sk-1234
"#;

/// Converts the models of a `model_list`.
#[track_caller]
fn converted(models: &str) -> ConversionOutcome {
    convert_litellm(&format!("model_list:\n{models}")).unwrap()
}

/// Parses the generated TOML as the service would.
#[track_caller]
fn read_back(toml: &str) -> ServiceConfig {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tollgate.toml");
    std::fs::write(&file, toml).unwrap();
    let names = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY_2", "OTHER"];
    let request = config::sources::SourceInputs {
        file: Some(file),
        environment: names.map(|name| (name.to_owned(), "x".to_owned())).into_iter().collect(),
        flags: Vec::new(),
        folder: folder.path().to_owned(),
    };
    let read = config::sources::ConfigSources::gather(&request).read();
    read.unwrap_or_else(|invalid| panic!("{invalid}\n{toml}"))
}

#[test]
fn models_of_one_name_become_routes_of_one_model_at_the_dearest_price() {
    let converted = convert_litellm(LITELLM).unwrap();
    let toml = &converted.toml;
    assert!(toml.contains("input_usd_per_million = \"3\""), "{toml}");
    assert!(toml.contains("output_usd_per_million = \"10\""), "{toml}");
    assert!(toml.contains("api_key = \"env:OPENAI_API_KEY\""), "{toml}");
    let also = "also = [{ provider = \"hosted-vllm\", upstream_id = \"meta/llama-3\" }]";
    assert!(toml.contains(also), "{toml}");
    assert_eq!(toml.matches("[[model]]").count(), 2, "{toml}");
}

#[test]
fn what_has_no_counterpart_is_said_and_keys_are_not_copied() {
    let ConversionOutcome { toml, left_out, .. } = convert_litellm(LITELLM).unwrap();
    let told = left_out.join("\n");
    for expected in ["rpm", "drop_params", "master_key", "wildcards", "ANTHROPIC_API_KEY"] {
        assert!(told.contains(expected), "{expected} in {told}");
    }
    assert!(!toml.contains("sk-in-the-file") && !told.contains("sk-in-the-file"));
}

#[test]
fn a_file_that_is_something_else_is_refused_in_words() {
    assert!(convert_litellm("just a text").is_err());
    assert!(convert_litellm("a: [").is_err());
    assert!(convert_litellm("a: 1").is_err());
}

#[test]
fn what_was_made_is_a_configuration_that_can_be_read() {
    assert_eq!(read_back(&convert_litellm(LITELLM).unwrap().toml).models.len(), 2);
}

#[test]
fn ollama_is_asked_below_v1_in_its_own_dialect() {
    let made = converted(
        "  - model_name: local\n    litellm_params:\n      model: ollama_chat/qwen3:4b\n      \
         api_base: http://10.0.0.5:11434/\n",
    );
    let provider = &read_back(&made.toml).providers[0];
    assert_eq!(provider.base_url.as_deref(), Some("http://10.0.0.5:11434/v1"));
    assert_eq!(provider.dialect.name(), "ollama");
    let made = converted(
        "  - model_name: a\n    litellm_params:\n      model: ollama/a\n      \
         api_base: http://10.0.0.5/prefix/v1\n",
    );
    assert!(made.toml.contains("\"http://10.0.0.5/prefix/v1\""), "{}", made.toml);
}

#[test]
fn a_known_model_brings_its_price_size_and_capabilities() {
    let made = converted(
        "  - model_name: claude\n    litellm_params:\n      model: anthropic/claude-sonnet-4-5\n      \
         api_key: os.environ/OTHER\n",
    );
    assert!(made.unpriced.is_empty());
    let config = read_back(&made.toml);
    let ModelSpec::Text(text) = &config.models[0].spec else { panic!("no text model") };
    assert!(
        text.has_capability(TextCapability::Tools) && text.has_capability(TextCapability::Vision)
    );
    assert_eq!((text.context_tokens, text.max_completion_tokens), (200_000, Some(64_000)));
    let expected = "price = { input_usd_per_million = \"3\", output_usd_per_million = \"15\", \
                    cache_input_usd_per_million = \"0.3\", cache_write_usd_per_million = \"3.75\"";
    assert!(made.toml.contains(expected), "{}", made.toml);
}

#[test]
fn the_file_counts_before_what_is_known() {
    let made = converted(
        "  - model_name: mine\n    litellm_params:\n      model: openai/gpt-4o\n      \
         input_cost_per_token: 0.000009\n    model_info:\n      supports_vision: false\n      \
         supports_audio_input: true\n      max_input_tokens: 5000\n",
    );
    let config = read_back(&made.toml);
    let ModelSpec::Text(text) = &config.models[0].spec else { panic!("no text model") };
    assert!(
        !text.has_capability(TextCapability::Vision)
            && text.has_capability(TextCapability::AudioInput)
    );
    assert!(text.has_capability(TextCapability::Tools));
    assert_eq!(text.context_tokens, 5000);
    assert!(made.toml.contains("input_usd_per_million = \"9\""), "{}", made.toml);
}

#[test]
fn what_one_route_cannot_do_is_not_announced() {
    let made = converted(
        "  - model_name: m\n    litellm_params:\n      model: openai/gpt-4o\n  \
         - model_name: m\n    litellm_params:\n      model: hosted_vllm/q\n      \
         input_cost_per_token: 0.000001\n    model_info:\n      supports_function_calling: true\n",
    );
    let config = read_back(&made.toml);
    let ModelSpec::Text(text) = &config.models[0].spec else { panic!("no text model") };
    assert!(
        text.has_capability(TextCapability::Tools) && !text.has_capability(TextCapability::Vision)
    );
}

#[test]
fn each_key_of_a_vendor_is_a_provider_of_its_own() {
    let made = converted(
        "  - model_name: a\n    litellm_params:\n      model: anthropic/claude-sonnet-4-5\n      \
         api_key: sk-one\n  - model_name: b\n    litellm_params:\n      \
         model: anthropic/claude-sonnet-4-5\n      api_key: sk-two\n  - model_name: c\n    \
         litellm_params:\n      model: anthropic/claude-sonnet-4-5\n      api_key: sk-one\n",
    );
    let config = read_back(&made.toml);
    assert_eq!(config.providers.len(), 2);
    let provider = |index: usize| config.models[index].routes[0].provider.as_str();
    assert_eq!([provider(0), provider(1), provider(2)], ["anthropic", "anthropic-2", "anthropic"]);
    assert!(made.toml.contains("env:ANTHROPIC_API_KEY_2"), "{}", made.toml);
    let told = made.left_out.join("\n");
    assert!(told.contains("the api_key of `b`: put it into ANTHROPIC_API_KEY_2"), "{told}");
}

#[test]
fn a_variable_that_the_file_names_is_given_to_no_other_key() {
    let made = converted(
        "  - model_name: a\n    litellm_params:\n      model: anthropic/claude-sonnet-4-5\n      \
         api_key: sk-one\n  - model_name: b\n    litellm_params:\n      \
         model: anthropic/claude-sonnet-4-5\n      api_key: os.environ/ANTHROPIC_API_KEY\n",
    );
    assert_eq!(read_back(&made.toml).providers.len(), 2);
    assert!(made.left_out.join("\n").contains("`a`: put it into ANTHROPIC_API_KEY_2"));
}

#[test]
fn a_model_that_would_be_sold_at_nothing_is_named() {
    let of = |cost: &str| {
        converted(&format!(
            "  - model_name: mine\n    litellm_params:\n      model: hosted_vllm/q\n{cost}"
        ))
        .unpriced
    };
    assert_eq!(of(""), ["`mine`"]);
    assert!(of("      input_cost_per_token: 0.000001\n").is_empty());
    // An explicit price of 0 is the operator's decision.
    assert!(of("      input_cost_per_token: 0\n").is_empty());
}

#[test]
fn a_model_of_another_type_is_no_text_model() {
    let text = "model_list:\n  - model_name: pictures\n    litellm_params:\n      \
                model: openai/gpt-image-1\n    model_info:\n      mode: image_generation\n  \
                - model_name: gpt\n    litellm_params:\n      model: openai/gpt-4o\n  \
                - model_name: vectors\n    litellm_params:\n      \
                model: openai/text-embedding-3-small\n";
    let made = convert_litellm(text).unwrap();
    assert!(made.left_out.iter().any(|it| it.contains("`pictures`: a model of mode")));
    let config = read_back(&made.toml);
    assert_eq!(config.models.len(), 2);
    let ModelSpec::Embedding(vectors) = &config.models[1].spec else { panic!("no embedding") };
    assert_eq!(vectors.dimensions, 1536);
}
