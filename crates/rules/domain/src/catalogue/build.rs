//! Builds a catalogue: checks every rule for entries and reports all faults at once.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use super::names::{MODEL_NAME_BYTES_MAX, NameKind, NameMeaning, find_similar_names, fold_name};
use super::prices::price_faults;
use super::{Catalogue, CatalogueModel, ModelSuccessor};

/// An error in one catalogue entry, for the operator to correct.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogueFault {
    /// The index of the entry in the list.
    pub position: usize,
    /// The entry's key with the error.
    pub key: &'static str,
    pub message: String,
}

impl fmt::Display for CatalogueFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Catalogue {
    /// Builds the catalogue, or returns all faults of the entries.
    pub fn build(models: Vec<CatalogueModel>) -> Result<Catalogue, Vec<CatalogueFault>> {
        let builder = CatalogueBuilder::from_models(&models);
        if !builder.faults.is_empty() {
            return Err(builder.faults);
        }
        let names = builder.names;
        let models = models.into_iter().map(Arc::new).collect();
        Ok(Catalogue { models, names })
    }

    /// Returns all faults of the entries, in their order.
    pub fn check_entries(models: &[CatalogueModel]) -> Vec<CatalogueFault> {
        CatalogueBuilder::from_models(models).faults
    }
}

#[derive(Default)]
struct CatalogueBuilder {
    names: HashMap<String, Vec<NameMeaning>>,
    faults: Vec<CatalogueFault>,
}

impl CatalogueBuilder {
    fn from_models(models: &[CatalogueModel]) -> CatalogueBuilder {
        let mut builder = CatalogueBuilder::default();
        for (position, model) in models.iter().enumerate() {
            builder.check_entry(position, model);
        }
        // Ids first: an alias must not take the id of a model later in the list.
        for (position, model) in models.iter().enumerate() {
            builder.claim_name(models, position, NameKind::Id, &model.id);
        }
        for (position, model) in models.iter().enumerate() {
            for alias in &model.aliases {
                builder.claim_name(models, position, NameKind::Alias, alias);
            }
            for name in &model.traits {
                builder.claim_name(models, position, NameKind::Trait, name);
            }
        }
        builder.check_successors(models);
        builder.faults.sort_by_key(|fault| fault.position);
        builder
    }

    fn add_fault(&mut self, position: usize, key: &'static str, message: String) {
        self.faults.push(CatalogueFault { position, key, message });
    }

    fn check_entry(&mut self, position: usize, model: &CatalogueModel) {
        if model.routes.is_empty() {
            self.add_fault(position, "provider", format!("model `{}` has no provider", model.id));
        }
        for country in &model.region_restrictions {
            let is_code = country.len() == 2 && country.bytes().all(|b| b.is_ascii_uppercase());
            if !is_code {
                let message = format!("`{country}` is no country code; write two capital letters");
                self.add_fault(position, "region_restrictions", message);
            }
        }
        if let Some(deprecation) = &model.deprecation {
            let starts_at = deprecation.starts_at.unwrap_or(deprecation.date);
            let is_in_order =
                starts_at <= deprecation.date && deprecation.date <= deprecation.removes_at;
            if !is_in_order {
                let message = "a deprecation starts, then has its date, then removes the model; \
                               `starts_at`, `date` and `removes_at` must be in this order"
                    .to_owned();
                self.add_fault(position, "deprecation", message);
            }
        }
        for (key, message) in price_faults(&model.spec) {
            self.add_fault(position, key, message);
        }
    }

    /// Registers a name for a model, or records a fault if another model of the same type has it.
    fn claim_name(
        &mut self,
        models: &[CatalogueModel],
        position: usize,
        kind: NameKind,
        name: &str,
    ) {
        let key = match kind {
            NameKind::Id => "id",
            NameKind::Alias => "aliases",
            NameKind::Trait => "traits",
        };
        if let Some(message) = find_name_fault(name) {
            return self.add_fault(position, key, message);
        }
        let model_type = models[position].model_type();
        let meanings = self.names.entry(fold_name(name)).or_default();
        let taken = meanings.iter().find(|it| {
            let is_global = kind == NameKind::Id || it.kind == NameKind::Id;
            it.model_type == model_type || is_global
        });
        let Some(taken) = taken else {
            meanings.push(NameMeaning { kind, model_type, model: position });
            return;
        };
        // `llama-3-3` next to `llama-3.3` adds a spelling that the lookup tolerates anyway, but
        // shows in the compatibility mapping.
        let is_own_spelling = taken.model == position
            && kind == NameKind::Alias
            && name != models[position].id
            && taken.kind == NameKind::Id;
        if is_own_spelling {
            return;
        }
        let message = describe_name_clash(kind, name, taken.kind, &models[taken.model].id);
        self.add_fault(position, key, message);
    }

    fn check_successors(&mut self, models: &[CatalogueModel]) {
        let by_id: BTreeMap<&str, &CatalogueModel> =
            models.iter().map(|model| (model.id.as_str(), model)).collect();
        for (position, model) in models.iter().enumerate() {
            let successor = model.deprecation.as_ref().and_then(|it| it.successor.id());
            let Some(id) = successor else { continue };
            let message = match by_id.get(id) {
                None => {
                    let ids = models.iter().map(|it| it.id.as_str()).filter(|it| *it != model.id);
                    unknown_successor(id, &find_similar_names(id, ids))
                }
                Some(next) if next.model_type() != model.model_type() => format!(
                    "the replacement `{id}` is of type {}, but `{}` is of type {}",
                    next.model_type(),
                    model.id,
                    model.model_type()
                ),
                Some(_) if is_circular(model, &by_id) => {
                    format!("the replacements of `{}` lead back to it", model.id)
                }
                Some(_) => continue,
            };
            self.add_fault(position, "deprecation", message);
        }
    }
}

/// Returns the reason why a text cannot be a model name. Callers write names in JSON, in URL paths
/// and before options, so the characters are restricted.
fn find_name_fault(name: &str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._:/@+".contains(c);
    if name.is_empty() || MODEL_NAME_BYTES_MAX < name.len() {
        return Some(format!("a name has 1 to {MODEL_NAME_BYTES_MAX} characters"));
    }
    if !name.chars().all(is_plain) {
        return Some(format!(
            "`{name}` is no name; use letters, digits and the characters - . _ : / @ +"
        ));
    }
    None
}

fn describe_name_clash(kind: NameKind, name: &str, taken: NameKind, owner: &str) -> String {
    let word = match kind {
        NameKind::Id => "id",
        NameKind::Alias => "alias",
        NameKind::Trait => "trait",
    };
    match taken {
        NameKind::Id if name == owner => {
            format!("the {word} `{name}` is already the id of a model")
        }
        NameKind::Id => {
            format!("the {word} `{name}` differs from the id `{owner}` by its spelling alone")
        }
        NameKind::Alias => format!("the {word} `{name}` is already an alias of `{owner}`"),
        NameKind::Trait => format!("the {word} `{name}` is already a trait of `{owner}`"),
    }
}

fn unknown_successor(id: &str, nearest: &[String]) -> String {
    let hint = match nearest.first() {
        Some(name) => format!("; did you mean `{name}`?"),
        None => String::new(),
    };
    format!("the replacement `{id}` is not the id of a model{hint}")
}

/// True if following automatic successors from `start` leads back to `start`.
fn is_circular(start: &CatalogueModel, by_id: &BTreeMap<&str, &CatalogueModel>) -> bool {
    let mut model = start;
    for _ in 0..by_id.len() {
        let successor = model.deprecation.as_ref().map(|it| &it.successor);
        let Some(ModelSuccessor::Automatic(id)) = successor else { return false };
        let Some(next) = by_id.get(id.as_str()) else { return false };
        if next.id == start.id {
            return true;
        }
        model = next;
    }
    false
}
