//! Resolves the text in `model` to the model that answers.

use std::sync::Arc;

use moment::Timestamp;

use super::names::{
    MODEL_NAME_BYTES_MAX, NameKind, NameMeaning, bare_names, find_similar_names, fold_name,
};
use super::{
    Catalogue, CatalogueModel, ModelDeprecation, ModelSelection, ModelSuccessor, ModelType,
};

/// The model that answers, and a deprecation notice for the requested one.
#[derive(Debug, Clone)]
pub struct ResolvedModel<'a> {
    pub model: &'a Arc<CatalogueModel>,
    /// Set if the requested model is deprecated or already removed.
    pub deprecated: Option<DeprecatedModel<'a>>,
}

/// The requested model, which is deprecated or removed.
#[derive(Debug, Clone, Copy)]
pub struct DeprecatedModel<'a> {
    pub id: &'a str,
    pub deprecation: &'a ModelDeprecation,
    /// True if another model already answers in its place.
    pub is_removed: bool,
    /// The model to change to: the one that answers now, or that will answer.
    pub replacement: Option<&'a str>,
}

impl DeprecatedModel<'_> {
    /// The warning for the caller, as a sentence.
    pub fn warning(&self) -> String {
        let DeprecatedModel { id, deprecation, is_removed, replacement } = self;
        let removed_on = deprecation.removes_at.date();
        let Some(next) = replacement else {
            return format!("Model {id} is deprecated and will be removed on {removed_on}.");
        };
        if *is_removed {
            return format!("Model {id} was removed on {removed_on}; {next} answers in its place.");
        }
        let advice = if deprecation.successor.is_automatic() {
            format!("After that {next} answers in its place.")
        } else {
            format!("Use {next} instead.")
        };
        format!("Model {id} is deprecated and will be removed on {removed_on}. {advice}")
    }

    /// The deprecation date shown to callers, as `YYYY-MM-DD`.
    pub fn date(&self) -> String {
        self.deprecation.date.date()
    }
}

/// The reason why no model answers. Displays as the message for the caller.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelResolveError {
    #[error("Specified model not found{}", format_suggestion(nearest))]
    NotFound {
        /// Ids and aliases, best first.
        nearest: Vec<String>,
    },
    #[error("Model {id} is of type {is}; this endpoint takes models of type {wanted}")]
    WrongType { id: String, is: ModelType, wanted: ModelType },
    #[error("Model {id} has been removed{}", replacement_hint(replacement))]
    Gone { id: String, replacement: Option<String> },
    #[error("The model is temporarily offline. Please try again later or use another model.")]
    Offline { id: String },
    #[error("Model {id} is not available in your region ({country})")]
    Restricted { id: String, country: String },
    #[error(
        "Model {id} is not private, and this API key is for private models only (modelPrivacy \
         {wanted})"
    )]
    NotPrivate { id: String, wanted: &'static str },
}

impl Catalogue {
    /// Resolves a name to the model of type `wanted` that answers.
    pub fn resolve_model(
        &self,
        asked: &str,
        wanted: ModelType,
        now: Timestamp,
    ) -> Result<ResolvedModel<'_>, ModelResolveError> {
        let meanings = self.name_meanings(asked);
        let of_type = meanings.iter().find(|it| it.model_type == wanted);
        let Some(name) = of_type else {
            // A trait of another type is not a model that the caller could have meant.
            let other = meanings.iter().find(|it| it.kind != NameKind::Trait);
            let Some(other) = other else {
                return Err(self.not_found(asked, ModelSelection::Type(wanted), now));
            };
            let id = self.models[other.model].id.clone();
            return Err(ModelResolveError::WrongType { id, is: other.model_type, wanted });
        };
        let resolved = self.find_answering_model(&self.models[name.model], now)?;
        if resolved.model.offline {
            return Err(ModelResolveError::Offline { id: resolved.model.id.clone() });
        }
        Ok(resolved)
    }

    /// Resolves a name to a model of any type, offline or not. If the name has meanings for several
    /// types, text wins.
    pub fn find_model(
        &self,
        asked: &str,
        now: Timestamp,
    ) -> Result<ResolvedModel<'_>, ModelResolveError> {
        let meanings = self.name_meanings(asked);
        let text = meanings.iter().find(|it| it.model_type == ModelType::Text);
        let Some(name) = text.or(meanings.first()) else {
            return Err(self.not_found(asked, ModelSelection::All, now));
        };
        self.find_answering_model(&self.models[name.model], now)
    }

    fn name_meanings(&self, asked: &str) -> Vec<NameMeaning> {
        if MODEL_NAME_BYTES_MAX < asked.len() {
            return Vec::new();
        }
        if let Some(meanings) = self.names.get(&fold_name(asked)) {
            return meanings.clone();
        }
        // `someone/default` is another provider's model, so traits match only without a prefix.
        let bare = bare_names(asked).find_map(|bare| self.names.get(&fold_name(bare)));
        let meanings = bare.into_iter().flatten().copied();
        meanings.filter(|it| it.kind != NameKind::Trait).collect()
    }

    fn find_answering_model<'a>(
        &'a self,
        asked: &'a Arc<CatalogueModel>,
        now: Timestamp,
    ) -> Result<ResolvedModel<'a>, ModelResolveError> {
        let model = self.successor_of(asked, now).map_err(|last| {
            let suggested = last.deprecation.as_ref().and_then(|it| it.successor.id());
            let next = suggested.and_then(|id| self.find_entry(id));
            let next = next.and_then(|it| self.successor_of(it, now).ok());
            ModelResolveError::Gone {
                id: asked.id.clone(),
                replacement: next.map(|it| it.id.clone()),
            }
        })?;
        let is_removed = asked.is_removed(now);
        let deprecated = asked.announced_deprecation(now).map(|deprecation| DeprecatedModel {
            id: &asked.id,
            deprecation,
            is_removed,
            replacement: if is_removed { Some(&model.id) } else { deprecation.successor.id() },
        });
        Ok(ResolvedModel { model, deprecated })
    }

    /// Returns the model itself or the first automatic successor that is not removed. The error is
    /// the last model of the chain.
    pub(super) fn successor_of<'a>(
        &'a self,
        asked: &'a Arc<CatalogueModel>,
        now: Timestamp,
    ) -> Result<&'a Arc<CatalogueModel>, &'a Arc<CatalogueModel>> {
        let mut model = asked;
        // The builder refuses cycles, so the loop ends.
        while model.is_removed(now) {
            let successor = model.deprecation.as_ref().map(|it| &it.successor);
            let Some(ModelSuccessor::Automatic(id)) = successor else { return Err(model) };
            model = self.find_entry(id).ok_or(model)?;
        }
        Ok(model)
    }

    fn not_found(
        &self,
        asked: &str,
        selection: ModelSelection,
        now: Timestamp,
    ) -> ModelResolveError {
        if MODEL_NAME_BYTES_MAX < asked.len() {
            return ModelResolveError::NotFound { nearest: Vec::new() };
        }
        let names = self.list(selection, now).flat_map(|model| {
            let aliases = model.aliases.iter().map(String::as_str);
            std::iter::once(model.id.as_str()).chain(aliases)
        });
        ModelResolveError::NotFound { nearest: find_similar_names(asked, names) }
    }
}

fn format_suggestion(nearest: &[String]) -> String {
    match nearest {
        [] => ". GET /models lists the models there are.".to_owned(),
        [only] => format!(". Did you mean {only}?"),
        [rest @ .., last] => format!(". Did you mean {} or {last}?", rest.join(", ")),
    }
}

fn replacement_hint(replacement: &Option<String>) -> String {
    match replacement {
        Some(id) => format!(". Please use {id} instead."),
        None => ". GET /models lists the models there are.".to_owned(),
    }
}
