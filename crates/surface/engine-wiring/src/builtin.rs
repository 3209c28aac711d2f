//! The catalogue entries of the built-in models, and their merge with the operator's entries.

use config::sections::provider::BUILT_IN;
use domain::catalogue::{Catalogue, CatalogueModel};

/// The manifest id of the image classifier, which has no catalogue entry.
pub const SAFETY: &str = "safety-open-nsfw";

/// All built-in models, downloaded or not.
pub fn list_builtin_models() -> Result<Vec<CatalogueModel>, String> {
    let entries = include_str!("../builtin.toml");
    config::catalogue::parse_models("built-in models", entries, BUILT_IN)
        .map_err(|it| it.to_string())
}

/// Merges the operator's models with the built-in ones. A built-in model, alias or trait whose name
/// the operator's models already use is left out.
pub fn merge_models(own: Vec<CatalogueModel>, builtin: Vec<CatalogueModel>) -> Vec<CatalogueModel> {
    let mut models = own;
    for mut model in builtin {
        let traits = std::mem::take(&mut model.traits);
        let aliases = std::mem::take(&mut model.aliases);
        models.push(model);
        if !is_catalogue(&models) {
            models.pop();
            continue;
        }
        for name in traits {
            keep_if_free(&mut models, name, |model| &mut model.traits);
        }
        for name in aliases {
            keep_if_free(&mut models, name, |model| &mut model.aliases);
        }
    }
    models
}

/// Adds a name to the last model, unless the catalogue would become invalid.
fn keep_if_free(
    models: &mut [CatalogueModel],
    name: String,
    names: impl Fn(&mut CatalogueModel) -> &mut Vec<String>,
) {
    if let Some(last) = models.last_mut() {
        names(last).push(name);
    }
    if !is_catalogue(models)
        && let Some(last) = models.last_mut()
    {
        names(last).pop();
    }
}

fn is_catalogue(models: &[CatalogueModel]) -> bool {
    Catalogue::check_entries(models).is_empty()
}

#[cfg(test)]
mod tests {
    use domain::catalogue::ModelSpec;

    use super::*;

    fn operators(entry: &str) -> Vec<CatalogueModel> {
        let text = format!(
            "[[model]]\nprovider = \"p\"\ntype = \"text\"\ncontext_tokens = 100\n\
             free = true\n{entry}"
        );
        config::catalogue::parse_models("test", &text, "p").unwrap()
    }

    #[track_caller]
    fn check(entry: &str, expected: &[&str]) {
        let own = operators(entry);
        let models = merge_models(own, list_builtin_models().unwrap());
        let told: Vec<String> = models
            .iter()
            .filter(|model| model.model_type().to_string() == "text")
            .map(|model| format!("{} {:?}", model.id, model.traits))
            .collect();
        assert_eq!(told, expected);
        assert!(is_catalogue(&models));
    }

    #[test]
    fn built_in_models_stand_beside_the_operators() {
        check(
            "id = \"mine\"",
            &[
                "mine []",
                "smollm2-135m [\"default\", \"fastest\"]",
                "qwen2.5-coder-0.5b [\"default_code\"]",
                "qwen2.5-coder-1.5b []",
            ],
        );
    }

    #[test]
    fn a_role_of_the_operators_model_is_not_given_away() {
        check(
            "id = \"mine\"\ntraits = [\"default\"]",
            &[
                "mine [\"default\"]",
                "smollm2-135m [\"fastest\"]",
                "qwen2.5-coder-0.5b [\"default_code\"]",
                "qwen2.5-coder-1.5b []",
            ],
        );
    }

    #[test]
    fn a_name_of_the_operators_model_hides_the_built_in_one() {
        let rest = ["qwen2.5-coder-0.5b [\"default_code\"]", "qwen2.5-coder-1.5b []"];
        check("id = \"SmolLM2_135m\"", &["SmolLM2_135m []", rest[0], rest[1]]);
        let alias = "id = \"mine\"\naliases = [\"smollm2-135m\"]";
        check(alias, &["mine []", rest[0], rest[1]]);
    }

    /// The offered voices are exactly those with a file.
    #[test]
    fn every_voice_of_kokoro_has_a_file_and_every_file_is_offered() {
        let kokoro =
            list_builtin_models().unwrap().into_iter().find(|it| it.id == "tts-kokoro").unwrap();
        let ModelSpec::Tts(spec) = &kokoro.spec else { panic!("{kokoro:?}") };
        let files = &weights::embedded_manifest().find_model("tts-kokoro").unwrap().files;
        let voice =
            |name: &str| Some(name.strip_prefix("voices/")?.strip_suffix(".bin")?.to_owned());
        let fetched: Vec<String> = files.iter().filter_map(|it| voice(&it.name)).collect();
        assert_eq!(spec.voices.options(), fetched);
    }

    #[test]
    fn every_built_in_model_has_files_and_the_other_way_round() {
        let offered: Vec<String> =
            list_builtin_models().unwrap().into_iter().map(|model| model.id).collect();
        let listed = weights::embedded_manifest().models();
        let listed = listed.filter(|model| model.is_offered());
        let listed: Vec<String> = listed.map(|model| model.id.clone()).collect();
        // The composer has no files.
        for id in offered.iter().filter(|id| *id != crate::composer_engine::COMPOSER) {
            assert!(listed.contains(id), "{id} has no files");
        }
        for id in &listed {
            assert!(offered.contains(id), "{id} is not offered");
        }
    }
}
