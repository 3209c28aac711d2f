//! The text models that may answer: the requested one and its fallbacks.

use std::sync::Arc;

use domain::catalogue::{
    Catalogue, CatalogueModel, ModelResolveError, ModelSpec, ModelType, ResolvedModel,
    TextCapability, TextSpec,
};
use engine::ChatRequest;
use http_frame::app::AppState;
use http_frame::paid_chat::ChatCandidate;
use http_frame::paid_work::PaidCall;
use http_frame::refusal::Refusal;
use http_frame::refusal::model::refuse_model;
use schema_check::ValidationFaults;

pub(super) struct ModelCandidates<'a> {
    pub(super) first: ResolvedModel<'a>,
    fallbacks: Vec<ResolvedModel<'a>>,
}

impl<'a> ModelCandidates<'a> {
    /// Resolves the models. One that is offline, or not allowed for the caller's country or key, is
    /// skipped if there is another.
    pub(super) fn resolve<'b>(
        call: &PaidCall,
        catalogue: &'a Catalogue,
        asked: &str,
        fallbacks: impl Iterator<Item = &'b str>,
    ) -> Result<ModelCandidates<'a>, Refusal> {
        let resolve = |name| call.find_model(catalogue, name, ModelType::Text);
        let mut found = Vec::new();
        for name in fallbacks {
            match resolve(name) {
                Ok(resolved) => found.push(resolved),
                Err(unresolved) if is_skippable(&unresolved) => {}
                Err(unresolved) => return Err(refuse_model(unresolved)),
            }
        }
        let first = match resolve(asked) {
            Ok(resolved) => resolved,
            Err(unresolved) if is_skippable(&unresolved) && !found.is_empty() => found.remove(0),
            Err(unresolved) => return Err(refuse_model(unresolved)),
        };
        call.set_rate_limit(first.model);
        Ok(ModelCandidates { first, fallbacks: found })
    }

    /// Refuses callers that cannot pay or are over a limit, before costly work such as DNS lookups
    /// and reading documents.
    pub(super) fn refuse_if_hopeless(&self, call: &PaidCall) -> Result<(), Refusal> {
        let model = self.first.model;
        let least = model.text_spec().map(|text| text.price.max_cost(1, 1)).unwrap_or_default();
        call.refuse_if_unaffordable(model, least)
    }

    /// The first model with the request that `fit` made for it, or the faults that `fit` found.
    pub(super) fn first_candidate(
        &self,
        app: &AppState,
        fit: impl Fn(&TextSpec) -> Result<ChatRequest, ValidationFaults>,
    ) -> Result<ChatCandidate, Refusal> {
        let candidate = prepare_candidate(app, self.first.model, fit)?;
        candidate.map_err(|faults| Refusal::invalid_request(&faults))
    }

    /// The fallback models. Those that cannot take the request are left out.
    pub(super) fn other_candidates(
        &self,
        app: &AppState,
        fit: impl Fn(&TextSpec) -> Result<ChatRequest, ValidationFaults>,
    ) -> Result<FallbackCandidates, Refusal> {
        let mut others = FallbackCandidates::default();
        for resolved in &self.fallbacks {
            match prepare_candidate(app, resolved.model, &fit)? {
                Ok(candidate) => others.candidates.push(candidate),
                Err(_) => others.left_out.push(resolved.model.id.clone()),
            }
        }
        Ok(others)
    }

    /// True if every model that may answer has this capability.
    pub(super) fn all_have(&self, capability: TextCapability) -> bool {
        let mut all = std::iter::once(&self.first).chain(&self.fallbacks);
        all.all(|it| it.model.text_spec().is_some_and(|text| text.has_capability(capability)))
    }

    /// The entry of the model that answered.
    pub(super) fn find_answering_model(&self, model: &Arc<CatalogueModel>) -> ResolvedModel<'a> {
        let mut all = std::iter::once(&self.first).chain(&self.fallbacks);
        all.find(|it| it.model.id == model.id).unwrap_or(&self.first).clone()
    }
}

/// The fallback models.
#[derive(Default)]
pub(super) struct FallbackCandidates {
    pub(super) candidates: Vec<ChatCandidate>,
    /// Ids of the models that cannot take the request.
    left_out: Vec<String>,
}

impl FallbackCandidates {
    /// The header value with the ids of the models left out.
    pub(super) fn skipped_models(&self) -> Option<String> {
        (!self.left_out.is_empty()).then(|| self.left_out.join(", "))
    }
}

/// True if the request is valid and another model may answer it.
fn is_skippable(unresolved: &ModelResolveError) -> bool {
    match unresolved {
        ModelResolveError::Offline { .. }
        | ModelResolveError::Restricted { .. }
        | ModelResolveError::NotPrivate { .. } => true,
        ModelResolveError::NotFound { .. }
        | ModelResolveError::WrongType { .. }
        | ModelResolveError::Gone { .. } => false,
    }
}

fn prepare_candidate(
    app: &AppState,
    model: &Arc<CatalogueModel>,
    fit: impl Fn(&TextSpec) -> Result<ChatRequest, ValidationFaults>,
) -> Result<Result<ChatCandidate, ValidationFaults>, Refusal> {
    let ModelSpec::Text(text) = &model.spec else {
        return Err(Refusal::internal("a model was resolved as a text model and is none"));
    };
    let request = match fit(text) {
        Ok(request) => request,
        Err(faults) => return Ok(Err(faults)),
    };
    let engine = app.engines.chat(model)?;
    Ok(Ok(ChatCandidate::new(Arc::clone(model), text, engine, request)))
}
