//! The text models that may answer: the one asked for, and those to fall back on.

use std::sync::Arc;

use domain::catalogue::{
    Capability, Catalogue, Country, Model, ModelSpec, ModelType, Resolved, TextSpec, Unresolved,
};
use engine::ChatRequest;
use moment::Timestamp;
use shape::{Faults, Step};

use crate::app::App;
use crate::endpoints::models::get::refuse_model;
use crate::paid_chat::Candidate;
use crate::refusal::Refusal;

pub(super) struct Lineup<'a> {
    pub(super) first: Resolved<'a>,
    /// With their places in the caller's list.
    fallbacks: Vec<(usize, Resolved<'a>)>,
}

impl<'a> Lineup<'a> {
    /// A model that is offline, or not for the caller's country, is passed over as long as there is
    /// another.
    pub(super) fn resolve<'b>(
        catalogue: &'a Catalogue,
        asked: &str,
        fallbacks: impl Iterator<Item = &'b str>,
        (now, country): (Timestamp, Option<Country>),
    ) -> Result<Lineup<'a>, Refusal> {
        let resolve = |name| {
            let resolved = catalogue.resolve(name, ModelType::Text, now);
            resolved.and_then(|it| it.served_in(country))
        };
        let mut found = Vec::new();
        for (index, name) in fallbacks.enumerate() {
            match resolve(name) {
                Ok(resolved) => found.push((index, resolved)),
                Err(Unresolved::Offline { .. } | Unresolved::Restricted { .. }) => {}
                Err(unresolved) => return Err(refuse_model(unresolved)),
            }
        }
        let first = match resolve(asked) {
            Ok(resolved) => resolved,
            Err(Unresolved::Offline { .. } | Unresolved::Restricted { .. })
                if !found.is_empty() =>
            {
                found.remove(0).1
            }
            Err(unresolved) => return Err(refuse_model(unresolved)),
        };
        Ok(Lineup { first, fallbacks: found })
    }

    /// The model asked for, with the request as `fit` gives it, if it can take it at all.
    pub(super) fn first_candidate(
        &self,
        app: &App,
        fit: impl Fn(&TextSpec) -> Result<ChatRequest, Faults>,
    ) -> Result<Candidate, Refusal> {
        let candidate = prepare(app, self.first.model, fit)?;
        candidate.map_err(|faults| Refusal::invalid(&faults))
    }

    pub(super) fn other_candidates(
        &self,
        app: &App,
        fit: impl Fn(&TextSpec) -> Result<ChatRequest, Faults>,
    ) -> Result<Vec<Candidate>, Refusal> {
        let mut faults = Faults::default();
        let mut others = Vec::new();
        for (index, resolved) in &self.fallbacks {
            match prepare(app, resolved.model, &fit)? {
                Ok(candidate) => others.push(candidate),
                Err(found) => {
                    let place = [Step::from("fallbacks"), Step::from(*index), Step::from("model")];
                    faults.at(place).push(format!("Cannot take this request: {found}"));
                }
            }
        }
        faults.into_result().map_err(|faults| Refusal::invalid(&faults))?;
        Ok(others)
    }

    /// Whether every model that may answer is able to do this.
    pub(super) fn all_have(&self, capability: Capability) -> bool {
        let fallbacks = self.fallbacks.iter().map(|(_, resolved)| resolved);
        let mut all = std::iter::once(&self.first).chain(fallbacks);
        all.all(|it| it.model.text().is_some_and(|text| text.has(capability)))
    }

    /// The entry of whichever model answered.
    pub(super) fn answered_by(&self, model: &Arc<Model>) -> Resolved<'a> {
        let fallbacks = self.fallbacks.iter().map(|(_, resolved)| resolved);
        let mut all = std::iter::once(&self.first).chain(fallbacks);
        all.find(|it| it.model.id == model.id).unwrap_or(&self.first).clone()
    }
}

fn prepare(
    app: &App,
    model: &Arc<Model>,
    fit: impl Fn(&TextSpec) -> Result<ChatRequest, Faults>,
) -> Result<Result<Candidate, Faults>, Refusal> {
    let ModelSpec::Text(text) = &model.spec else {
        return Err(Refusal::internal("a model was resolved as a text model and is none"));
    };
    let request = match fit(text) {
        Ok(request) => request,
        Err(faults) => return Ok(Err(faults)),
    };
    let engine = app.engines.chat(model)?;
    Ok(Ok(Candidate::new(Arc::clone(model), text, engine, request)))
}
