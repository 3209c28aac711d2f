//! The `[[model]]` keys common to all types.

use std::num::NonZeroU32;
use std::path::Path;

use domain::catalogue::{
    Deprecation, Model, ModelSpec, ModelType, Named, Privacy, Route, Successor, WorkflowFile,
};

use super::value::word;
use crate::fault::did_you_mean;
use crate::key::{Form, Key, Kind, Section};
use crate::origin::Origin;
use crate::reader::Reader;

const WEIGHT: Kind = Kind::Integer { least: 1, most: 1_000_000 };

pub(super) const KEYS: &[Key] = &[
    Key::required("id", Kind::Text, "The id that callers send as `model`."),
    Key::required("type", Kind::Choice(ModelType::NAMES), "The type of the model."),
    Key::required("provider", Kind::Text, "The id of the `[[provider]]` that runs it."),
    Key::optional(
        "upstream_id",
        Kind::Text,
        "The provider's name of the model. Default: the model's `id`.",
    ),
    Key::with_default(
        "weight",
        WEIGHT,
        "1",
        "The load share of the first route, relative to the weights in `also`.",
    ),
    Key::optional(
        "also",
        Kind::Tables,
        "Additional routes, for failover and weighted load balancing.",
    ),
    Key::optional(
        "workflow",
        Kind::Path,
        "For providers of kind `comfyui`: a file with a workflow in API format, relative to this \
         file. Placeholders such as `{{prompt}}`, `{{negative_prompt}}`, `{{seed}}`, `{{width}}`, \
         `{{height}}`, `{{steps}}`, `{{cfg_scale}}` and `{{image}}` are replaced.",
    ),
    Key::required(
        "price",
        Kind::Table,
        "The price, in the format of the model type. Not needed with `free = true`.",
    ),
    Key::with_default(
        "free",
        Kind::Flag,
        "false",
        "Offers the model at no charge, without a `price`.",
    ),
    Key::optional("name", Kind::Text, "The display name. Default: the model's `id`."),
    Key::optional("description", Kind::Text, "A description for the listing."),
    Key::optional("source", Kind::Text, "The source of the model, such as a web page."),
    Key::with_default("owned_by", Kind::Text, "\"service\"", "The owner shown in the listing."),
    Key::optional("created", Kind::Date, "The date when the model was added."),
    Key::with_default(
        "privacy",
        Kind::Choice(Privacy::NAMES),
        "\"anonymized\"",
        "The privacy promised to callers: `private` if content is not retained, `anonymized` if a \
         third party sees the content but not the caller's identity.",
    ),
    Key::with_default(
        "offline",
        Kind::Flag,
        "false",
        "Lists the model but refuses requests to it.",
    ),
    Key::with_default("beta", Kind::Flag, "false", "Marks the model as beta in the listing."),
    Key::with_default(
        "uncensored",
        Kind::Flag,
        "false",
        "Marks the model as uncensored in the listing.",
    ),
    Key::with_default(
        "traits",
        Kind::Texts,
        "[]",
        "Traits of the model within its type, such as `default` or `fastest`. Callers may send a \
         trait as `model`.",
    ),
    Key::with_default(
        "aliases",
        Kind::Texts,
        "[]",
        "Model names of other services that select this model, such as `gpt-4o`.",
    ),
    Key::with_default("model_sets", Kind::Texts, "[]", "Curation tags for the listing."),
    Key::with_default(
        "region_restrictions",
        Kind::Texts,
        "[]",
        "Countries from which the model must not be used, as two capital letters.",
    ),
    Key::optional("deprecation", Kind::Table, "The schedule of the model's removal."),
];

pub(super) const ROUTE_SECTION: Section = Section {
    name: "model.also",
    form: Form::Inner,
    doc: "Additional routes of a model: `also = [{ provider = \"other\", upstream_id = \"…\" }]`.",
    keys: ROUTE_KEYS,
};

const ROUTE_KEYS: &[Key] = &[
    Key::required("provider", Kind::Text, "The id of a `[[provider]]`."),
    Key::optional(
        "upstream_id",
        Kind::Text,
        "That provider's name of the model. Default: the model's `id`.",
    ),
    Key::with_default("weight", WEIGHT, "1", "The load share of this route."),
];

pub(super) const DEPRECATION_SECTION: Section = Section {
    name: "model.deprecation",
    form: Form::Inner,
    doc: "A scheduled removal: `deprecation = { date = \"2030-01-01\", replacement = \"…\" }`.",
    keys: DEPRECATION_KEYS,
};

const DEPRECATION_KEYS: &[Key] = &[
    Key::required("date", Kind::Date, "The deprecation date announced to callers."),
    Key::optional(
        "removes_at",
        Kind::Date,
        "The date from which the model no longer answers. Default: `date`.",
    ),
    Key::optional(
        "starts_at",
        Kind::Date,
        "The date from which responses carry a warning. Default: immediately.",
    ),
    Key::optional("replacement", Kind::Text, "The id of the replacement model."),
    Key::with_default(
        "auto_remap",
        Kind::Flag,
        "false",
        "Redirects requests to the replacement after the removal. Otherwise callers get 410 Gone.",
    ),
];

/// Builds a model from the common keys and its type-specific `spec`.
pub(super) fn read(
    reader: &Reader<'_>,
    spec: Option<ModelSpec>,
    providers: &[&str],
) -> Option<Model> {
    let id = reader.text("id");
    let name = reader.text("name").or_else(|| id.clone());
    let description = reader.text("description");
    let source = reader.text("source");
    let owned_by = reader.text("owned_by");
    let created = reader.date("created");
    let privacy = word(reader, "privacy");
    let flags = ["offline", "beta", "uncensored"].map(|key| reader.flag(key));
    let lists =
        ["traits", "aliases", "model_sets", "region_restrictions"].map(|key| reader.texts(key));
    let deprecation = deprecation(reader);
    let routes = routes(reader, id.as_deref(), providers);
    let workflow = workflow(reader);
    let [offline, beta, uncensored] = flags;
    let [traits, aliases, model_sets, region_restrictions] = lists;
    Some(Model {
        id: id?,
        name: name?,
        description,
        source,
        owned_by: owned_by?,
        created,
        privacy: privacy?,
        offline: offline?,
        beta: beta?,
        uncensored: uncensored?,
        traits: traits?,
        aliases: aliases?,
        model_sets: model_sets?,
        region_restrictions: region_restrictions?,
        deprecation,
        routes,
        workflow,
        spec: spec?,
    })
}

fn deprecation(reader: &Reader<'_>) -> Option<Deprecation> {
    let inner = reader.table("deprecation", DEPRECATION_KEYS)?;
    let date = inner.date("date");
    let removes_at = inner.date("removes_at").or(date);
    let starts_at = inner.date("starts_at");
    let replacement = inner.text("replacement");
    let auto_remap = inner.flag("auto_remap")?;
    let successor = match (replacement, auto_remap) {
        (Some(id), true) => Successor::Automatic(id),
        (Some(id), false) => Successor::Suggested(id),
        (None, false) => Successor::Nobody,
        (None, true) => {
            inner.fault("auto_remap", "`auto_remap` needs a `replacement` to map to");
            return None;
        }
    };
    Some(Deprecation { starts_at, date: date?, removes_at: removes_at?, successor })
}

/// Resolves the workflow path relative to the file that names it.
fn workflow(reader: &Reader<'_>) -> Option<WorkflowFile> {
    let path = reader.path("workflow")?;
    let origin = reader.origin_of("workflow");
    let named_at = origin.to_string();
    let Origin::File { path: file, .. } = origin else {
        return Some(WorkflowFile { path, named_at });
    };
    let folder = Path::new(&**file).parent().unwrap_or(Path::new(""));
    Some(WorkflowFile { path: folder.join(path), named_at })
}

fn routes(reader: &Reader<'_>, id: Option<&str>, providers: &[&str]) -> Vec<Route> {
    let further = reader.tables("also", ROUTE_KEYS);
    std::iter::once(reader)
        .chain(&further)
        .filter_map(|place| {
            let provider = place.text("provider");
            let upstream_id = place.text("upstream_id");
            let weight = place.integer("weight").and_then(|it| u32::try_from(it).ok());
            let provider = provider?;
            if !providers.contains(&provider.as_str()) {
                let hint = did_you_mean(&provider, providers.iter().copied());
                let message = format!("there is no [[provider]] with the id `{provider}`{hint}");
                place.fault("provider", message);
            }
            Some(Route {
                provider,
                upstream_id: upstream_id.or_else(|| id.map(str::to_owned))?,
                weight: weight.and_then(NonZeroU32::new)?,
            })
        })
        .collect()
}
