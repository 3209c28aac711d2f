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
    Key::required("id", Kind::Text, "What callers send as `model`."),
    Key::required("type", Kind::Choice(ModelType::NAMES), "What the model makes or does."),
    Key::required("provider", Kind::Text, "The id of the `[[provider]]` that runs it."),
    Key::optional(
        "upstream_id",
        Kind::Text,
        "What the provider calls the model; its own id unless given.",
    ),
    Key::with_default(
        "weight",
        WEIGHT,
        "1",
        "The first route's share of the load, next to the weights in `also`.",
    ),
    Key::optional("also", Kind::Tables, "Further routes, for failover and weighted balancing."),
    Key::optional(
        "workflow",
        Kind::Path,
        "What a provider of kind `comfyui` is to do: a file with a workflow in API format, relative \
         to this one. `{{prompt}}`, `{{negative_prompt}}`, `{{seed}}`, `{{width}}`, `{{height}}`, \
         `{{steps}}`, `{{cfg_scale}}`, `{{image}}` and others in it are filled in.",
    ),
    Key::required(
        "price",
        Kind::Table,
        "What it costs; one shape per type. Left out only with `free = true`.",
    ),
    Key::with_default(
        "free",
        Kind::Flag,
        "false",
        "Offers the model for nothing, without a price.",
    ),
    Key::optional("name", Kind::Text, "The name people read; the id unless given."),
    Key::optional("description", Kind::Text, "A sentence for the listing."),
    Key::optional("source", Kind::Text, "Where the model comes from, such as a web page."),
    Key::with_default("owned_by", Kind::Text, "\"service\"", "Who the listing says owns it."),
    Key::optional("created", Kind::Date, "When the model was added."),
    Key::with_default(
        "privacy",
        Kind::Choice(Privacy::NAMES),
        "\"anonymized\"",
        "What callers are promised: `private` if nobody keeps what they send, `anonymized` if a \
         third party sees it without knowing them.",
    ),
    Key::with_default("offline", Kind::Flag, "false", "Lists the model, but refuses to run it."),
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
        "Roles it plays among the models of its type, such as `default` or `fastest`. Callers may \
         send a role as `model`.",
    ),
    Key::with_default(
        "aliases",
        Kind::Texts,
        "[]",
        "Names of other services' models that it answers to, such as `gpt-4o`.",
    ),
    Key::with_default("model_sets", Kind::Texts, "[]", "Curation tags for the listing."),
    Key::with_default(
        "region_restrictions",
        Kind::Texts,
        "[]",
        "Countries it may not be used from, as two capital letters.",
    ),
    Key::optional("deprecation", Kind::Table, "When and how the model goes away."),
];

pub(super) const ROUTE_SECTION: Section = Section {
    name: "model.also",
    form: Form::Inner,
    doc: "Further routes of a model: `also = [{ provider = \"other\", upstream_id = \"…\" }]`.",
    keys: ROUTE_KEYS,
};

const ROUTE_KEYS: &[Key] = &[
    Key::required("provider", Kind::Text, "The id of a `[[provider]]`."),
    Key::optional(
        "upstream_id",
        Kind::Text,
        "What that provider calls the model; its own id unless given.",
    ),
    Key::with_default("weight", WEIGHT, "1", "This route's share of the load."),
];

pub(super) const DEPRECATION_SECTION: Section = Section {
    name: "model.deprecation",
    form: Form::Inner,
    doc: "A model on its way out: `deprecation = { date = \"2030-01-01\", replacement = \"…\" }`.",
    keys: DEPRECATION_KEYS,
};

const DEPRECATION_KEYS: &[Key] = &[
    Key::required("date", Kind::Date, "The date that callers are told."),
    Key::optional(
        "removes_at",
        Kind::Date,
        "From when the model no longer answers itself; the date unless given.",
    ),
    Key::optional(
        "starts_at",
        Kind::Date,
        "From when responses carry a warning; at once unless given.",
    ),
    Key::optional("replacement", Kind::Text, "The id of the model to use instead."),
    Key::with_default(
        "auto_remap",
        Kind::Flag,
        "false",
        "After the removal the replacement answers by itself. Without it callers get 410 Gone.",
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
