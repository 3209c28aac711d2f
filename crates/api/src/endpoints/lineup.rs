//! The text models that may answer: the requested one and its fallbacks.

use std::sync::Arc;

use domain::catalogue::{
    Capability, Catalogue, Model, ModelSpec, ModelType, Resolved, TextSpec, Unresolved,
};
use engine::ChatRequest;
use schema_check::Faults;

use crate::app::App;
use crate::paid::PaidCall;
use crate::paid_chat::Candidate;
use crate::refusal::Refusal;
use crate::refusal::model::refuse_model;

pub(super) struct Lineup<'a> {
    pub(super) first: Resolved<'a>,
    fallbacks: Vec<Resolved<'a>>,
}

impl<'a> Lineup<'a> {
    /// Resolves the models. One that is offline, or not allowed for the caller's country or key, is
    /// skipped if there is another.
    pub(super) fn resolve<'b>(
        call: &PaidCall,
        catalogue: &'a Catalogue,
        asked: &str,
        fallbacks: impl Iterator<Item = &'b str>,
    ) -> Result<Lineup<'a>, Refusal> {
        let resolve = |name| call.find(catalogue, name, ModelType::Text);
        let mut found = Vec::new();
        for name in fallbacks {
            match resolve(name) {
                Ok(resolved) => found.push(resolved),
                Err(unresolved) if is_passed_over(&unresolved) => {}
                Err(unresolved) => return Err(refuse_model(unresolved)),
            }
        }
        let first = match resolve(asked) {
            Ok(resolved) => resolved,
            Err(unresolved) if is_passed_over(&unresolved) && !found.is_empty() => found.remove(0),
            Err(unresolved) => return Err(refuse_model(unresolved)),
        };
        call.note_standing(first.model);
        Ok(Lineup { first, fallbacks: found })
    }

    /// Refuses callers that cannot pay or are over a limit, before costly work such as DNS lookups
    /// and reading documents.
    pub(super) fn refuse_if_hopeless(&self, call: &PaidCall) -> Result<(), Refusal> {
        let model = self.first.model;
        let least = model.text().map(|text| text.price.most(1, 1)).unwrap_or_default();
        call.refuse_if_hopeless(model, least)
    }

    /// The first model with the request that `fit` made for it, or the faults that `fit` found.
    pub(super) fn first_candidate(
        &self,
        app: &App,
        fit: impl Fn(&TextSpec) -> Result<ChatRequest, Faults>,
    ) -> Result<Candidate, Refusal> {
        let candidate = prepare(app, self.first.model, fit)?;
        candidate.map_err(|faults| Refusal::invalid(&faults))
    }

    /// The fallback models. Those that cannot take the request are left out.
    pub(super) fn other_candidates(
        &self,
        app: &App,
        fit: impl Fn(&TextSpec) -> Result<ChatRequest, Faults>,
    ) -> Result<Others, Refusal> {
        let mut others = Others::default();
        for resolved in &self.fallbacks {
            match prepare(app, resolved.model, &fit)? {
                Ok(candidate) => others.candidates.push(candidate),
                Err(_) => others.left_out.push(resolved.model.id.clone()),
            }
        }
        Ok(others)
    }

    /// True if every model that may answer has this capability.
    pub(super) fn all_have(&self, capability: Capability) -> bool {
        let mut all = std::iter::once(&self.first).chain(&self.fallbacks);
        all.all(|it| it.model.text().is_some_and(|text| text.has(capability)))
    }

    /// The entry of the model that answered.
    pub(super) fn answered_by(&self, model: &Arc<Model>) -> Resolved<'a> {
        let mut all = std::iter::once(&self.first).chain(&self.fallbacks);
        all.find(|it| it.model.id == model.id).unwrap_or(&self.first).clone()
    }
}

/// The fallback models.
#[derive(Default)]
pub(super) struct Others {
    pub(super) candidates: Vec<Candidate>,
    /// Ids of the models that cannot take the request.
    left_out: Vec<String>,
}

impl Others {
    /// The header value with the ids of the models left out.
    pub(super) fn left_out(&self) -> Option<String> {
        (!self.left_out.is_empty()).then(|| self.left_out.join(", "))
    }
}

/// True if the request is valid and another model may answer it.
fn is_passed_over(unresolved: &Unresolved) -> bool {
    match unresolved {
        Unresolved::Offline { .. }
        | Unresolved::Restricted { .. }
        | Unresolved::NotPrivate { .. } => true,
        Unresolved::NotFound { .. } | Unresolved::WrongType { .. } | Unresolved::Gone { .. } => {
            false
        }
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
