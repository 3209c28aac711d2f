//! Catalogue entries for GGUF files that the operator put into the models directory.

use std::path::Path;

use config::sections::provider::BUILT_IN;
use domain::catalogue::CatalogueModel;
use weights::gguf::{GgufMetadata, OperatorModelFile};

/// Default prices, until the operator writes a `[[model]]` entry for the file.
const INPUT_USD_PER_MILLION: &str = "0.05";
const OUTPUT_USD_PER_MILLION: &str = "0.15";

/// The engine's default temperature: small models lose the subject at 1.
const TEMPERATURE: &str = "0.7";

/// Models of the valid files; the others are logged and not offered.
pub fn list_gguf_models(models_dir: &Path) -> Vec<CatalogueModel> {
    let mut models = Vec::new();
    for file in weights::gguf::list_model_files(models_dir) {
        match build_model(&file) {
            Ok(model) => models.push(model),
            Err(error) => tracing::warn!("{} is not offered: {error}", file.path.display()),
        }
    }
    models
}

/// True if one of the operator's own entries uses this file.
pub fn is_named_by(models: &[CatalogueModel], models_dir: &Path, stem: &str) -> bool {
    let path = models_dir.join(format!("{stem}.{}", weights::gguf::EXTENSION));
    let mut routes = models.iter().flat_map(|model| &model.routes);
    routes.any(|route| route.upstream_id == stem || Path::new(&route.upstream_id) == path)
}

fn build_model(file: &OperatorModelFile) -> Result<CatalogueModel, String> {
    let facts = file.facts.as_ref().map_err(ToString::to_string)?;
    let parsed = config::catalogue::parse_models(
        "models directory",
        &catalogue_entry(&file.stem, facts),
        BUILT_IN,
    );
    let mut models = parsed.map_err(|error| error.to_string())?;
    models.pop().ok_or_else(|| "it makes no entry of the catalogue".to_owned())
}

/// The `[[model]]` entry for a file, in TOML.
fn catalogue_entry(stem: &str, facts: &GgufMetadata) -> String {
    let name = facts.name.as_deref().map(str::trim).filter(|it| !it.is_empty()).unwrap_or(stem);
    let tools = if facts.has_tools { "\"tools\", " } else { "" };
    format!(
        "[[model]]\n\
         id = {id}\n\
         type = \"text\"\n\
         provider = \"{BUILT_IN}\"\n\
         name = {name}\n\
         description = \"Runs on this machine.\"\n\
         privacy = \"private\"\n\
         tier = \"XS\"\n\
         context_tokens = {context}\n\
         defaults = {{ temperature = \"{TEMPERATURE}\", top_p = \"1\" }}\n\
         capabilities = [{tools}\"json_schema\", \"logprobs\"]\n\
         price = {{ input_usd_per_million = \"{INPUT_USD_PER_MILLION}\", \
         output_usd_per_million = \"{OUTPUT_USD_PER_MILLION}\" }}\n",
        id = quote_toml(stem),
        name = quote_toml(name),
        context = facts.context_tokens,
    )
}

/// Quotes a string for TOML. Control characters are removed.
fn quote_toml(text: &str) -> String {
    let mut quoted = String::from('"');
    for letter in text.chars().filter(|it| !it.is_control()) {
        if matches!(letter, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(letter);
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use domain::catalogue::TextCapability;
    use weights::gguf::GgufError;

    use super::*;

    fn facts() -> GgufMetadata {
        GgufMetadata {
            architecture: "llama".to_owned(),
            name: Some("A \"name\" \\ \u{7f}".to_owned()),
            context_tokens: 4096,
            has_tools: false,
            layers: Some(30),
            bytes: 1,
        }
    }

    fn file(stem: &str, facts: Result<GgufMetadata, GgufError>) -> OperatorModelFile {
        OperatorModelFile { stem: stem.to_owned(), path: "x.gguf".into(), facts }
    }

    #[test]
    fn a_file_becomes_an_entry_that_runs_from_it() {
        let made = build_model(&file("My-Model.Q4_K_M", Ok(facts()))).unwrap();
        assert_eq!((made.id.as_str(), made.name.as_str()), ("My-Model.Q4_K_M", "A \"name\" \\ "));
        assert_eq!(made.routes[0].provider, BUILT_IN);
        assert_eq!(made.routes[0].upstream_id, "My-Model.Q4_K_M");
        let text = made.text_spec().unwrap();
        assert_eq!(text.context_tokens, 4096);
        assert_eq!((text.sampling.temperature, text.sampling.top_p), (Some(0.7), Some(1.0)));
        assert!(
            text.has_capability(TextCapability::JsonSchema)
                && !text.has_capability(TextCapability::Tools)
        );
        let with_tools = GgufMetadata { has_tools: true, name: None, ..facts() };
        let made = build_model(&file("mine", Ok(with_tools))).unwrap();
        assert_eq!(made.name, "mine");
        assert!(made.text_spec().unwrap().has_capability(TextCapability::Tools));
    }

    #[test]
    fn a_broken_file_or_a_name_that_is_no_id_is_not_offered() {
        let broken = build_model(&file("mine", Err(GgufError::Stranger))).unwrap_err();
        assert_eq!(broken, "it is no GGUF file");
        assert!(build_model(&file("my model\n= 1", Ok(facts()))).is_err());
    }

    #[test]
    fn a_file_that_an_entry_of_the_operators_names_is_known() {
        let folder = Path::new("/models");
        let mut own = build_model(&file("mine", Ok(facts()))).unwrap();
        for (upstream_id, expected) in
            [("mine", true), ("/models/mine.gguf", true), ("/models/other.gguf", false)]
        {
            own.routes[0].upstream_id = upstream_id.to_owned();
            assert_eq!(is_named_by(std::slice::from_ref(&own), folder, "mine"), expected);
        }
    }
}
