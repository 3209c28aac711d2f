//! The `[[model]]` keys common to all types.

use std::num::NonZeroU32;
use std::path::Path;

use domain::catalogue::{
    CatalogueModel, ContentPrivacy, ModelDeprecation, ModelRoute, ModelSpec, ModelSuccessor,
    ModelType, NamedVariants, WorkflowFile,
};

use super::value::read_enum_value;
use crate::fault::did_you_mean;
use crate::key::{ConfigKey, ConfigSection, SectionForm, ValueKind};
use crate::origin::SettingOrigin;
use crate::reader::TableReader;

const WEIGHT: ValueKind = ValueKind::Integer { least: 1, most: 1_000_000 };

pub(super) const KEYS: &[ConfigKey] = &[
    ConfigKey::required("id", ValueKind::Text, "The id that callers send as `model`."),
    ConfigKey::required("type", ValueKind::Choice(ModelType::NAMES), "The type of the model."),
    ConfigKey::required("provider", ValueKind::Text, "The id of the `[[provider]]` that runs it."),
    ConfigKey::optional(
        "upstream_id",
        ValueKind::Text,
        "The provider's name of the model. Default: the model's `id`.",
    ),
    ConfigKey::with_default(
        "weight",
        WEIGHT,
        "1",
        "The load share of the first route, relative to the weights in `also`.",
    ),
    ConfigKey::optional(
        "also",
        ValueKind::Tables,
        "Additional routes, for failover and weighted load balancing.",
    ),
    ConfigKey::optional(
        "workflow",
        ValueKind::Path,
        "For providers of kind `comfyui`: a file with a workflow in API format, relative to this \
         file. Placeholders such as `{{prompt}}`, `{{negative_prompt}}`, `{{seed}}`, `{{width}}`, \
         `{{height}}`, `{{steps}}`, `{{cfg_scale}}` and `{{image}}` are replaced.",
    ),
    ConfigKey::required(
        "price",
        ValueKind::Table,
        "The price, in the format of the model type. Not needed with `free = true`.",
    ),
    ConfigKey::with_default(
        "free",
        ValueKind::Flag,
        "false",
        "Offers the model at no charge, without a `price`.",
    ),
    ConfigKey::optional("name", ValueKind::Text, "The display name. Default: the model's `id`."),
    ConfigKey::optional("description", ValueKind::Text, "A description for the listing."),
    ConfigKey::optional("source", ValueKind::Text, "The source of the model, such as a web page."),
    ConfigKey::with_default(
        "owned_by",
        ValueKind::Text,
        "\"service\"",
        "The owner shown in the listing.",
    ),
    ConfigKey::optional("created", ValueKind::Date, "The date when the model was added."),
    ConfigKey::with_default(
        "privacy",
        ValueKind::Choice(ContentPrivacy::NAMES),
        "\"anonymized\"",
        "The privacy promised to callers: `private` if content is not retained, `anonymized` if a \
         third party sees the content but not the caller's identity.",
    ),
    ConfigKey::with_default(
        "offline",
        ValueKind::Flag,
        "false",
        "Lists the model but refuses requests to it.",
    ),
    ConfigKey::with_default(
        "beta",
        ValueKind::Flag,
        "false",
        "Marks the model as beta in the listing.",
    ),
    ConfigKey::with_default(
        "uncensored",
        ValueKind::Flag,
        "false",
        "Marks the model as uncensored in the listing.",
    ),
    ConfigKey::with_default(
        "traits",
        ValueKind::Texts,
        "[]",
        "Traits of the model within its type, such as `default` or `fastest`. Callers may send a \
         trait as `model`.",
    ),
    ConfigKey::with_default(
        "aliases",
        ValueKind::Texts,
        "[]",
        "Model names of other services that select this model, such as `gpt-4o`.",
    ),
    ConfigKey::with_default("model_sets", ValueKind::Texts, "[]", "Curation tags for the listing."),
    ConfigKey::with_default(
        "region_restrictions",
        ValueKind::Texts,
        "[]",
        "Countries from which the model must not be used, as two capital letters.",
    ),
    ConfigKey::optional("deprecation", ValueKind::Table, "The schedule of the model's removal."),
];

pub(super) const ROUTE_SECTION: ConfigSection = ConfigSection {
    name: "model.also",
    form: SectionForm::Inner,
    doc: "Additional routes of a model: `also = [{ provider = \"other\", upstream_id = \"…\" }]`.",
    keys: ROUTE_KEYS,
};

const ROUTE_KEYS: &[ConfigKey] = &[
    ConfigKey::required("provider", ValueKind::Text, "The id of a `[[provider]]`."),
    ConfigKey::optional(
        "upstream_id",
        ValueKind::Text,
        "That provider's name of the model. Default: the model's `id`.",
    ),
    ConfigKey::with_default("weight", WEIGHT, "1", "The load share of this route."),
];

pub(super) const DEPRECATION_SECTION: ConfigSection = ConfigSection {
    name: "model.deprecation",
    form: SectionForm::Inner,
    doc: "A scheduled removal: `deprecation = { date = \"2030-01-01\", replacement = \"…\" }`.",
    keys: DEPRECATION_KEYS,
};

const DEPRECATION_KEYS: &[ConfigKey] = &[
    ConfigKey::required("date", ValueKind::Date, "The deprecation date announced to callers."),
    ConfigKey::optional(
        "removes_at",
        ValueKind::Date,
        "The date from which the model no longer answers. Default: `date`.",
    ),
    ConfigKey::optional(
        "starts_at",
        ValueKind::Date,
        "The date from which responses carry a warning. Default: immediately.",
    ),
    ConfigKey::optional("replacement", ValueKind::Text, "The id of the replacement model."),
    ConfigKey::with_default(
        "auto_remap",
        ValueKind::Flag,
        "false",
        "Redirects requests to the replacement after the removal. Otherwise callers get 410 Gone.",
    ),
];

/// Builds a model from the common keys and its type-specific `spec`.
pub(super) fn read_model(
    reader: &TableReader<'_>,
    spec: Option<ModelSpec>,
    providers: &[&str],
) -> Option<CatalogueModel> {
    let id = reader.text("id");
    let name = reader.text("name").or_else(|| id.clone());
    let description = reader.text("description");
    let source = reader.text("source");
    let owned_by = reader.text("owned_by");
    let created = reader.date("created");
    let privacy = read_enum_value(reader, "privacy");
    let flags = ["offline", "beta", "uncensored"].map(|key| reader.flag(key));
    let lists =
        ["traits", "aliases", "model_sets", "region_restrictions"].map(|key| reader.texts(key));
    let deprecation = read_deprecation(reader);
    let routes = read_routes(reader, id.as_deref(), providers);
    let workflow = read_workflow(reader);
    let [offline, beta, uncensored] = flags;
    let [traits, aliases, model_sets, region_restrictions] = lists;
    Some(CatalogueModel {
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

fn read_deprecation(reader: &TableReader<'_>) -> Option<ModelDeprecation> {
    let inner = reader.table_reader("deprecation", DEPRECATION_KEYS)?;
    let date = inner.date("date");
    let removes_at = inner.date("removes_at").or(date);
    let starts_at = inner.date("starts_at");
    let replacement = inner.text("replacement");
    let auto_remap = inner.flag("auto_remap")?;
    let successor = match (replacement, auto_remap) {
        (Some(id), true) => ModelSuccessor::Automatic(id),
        (Some(id), false) => ModelSuccessor::Suggested(id),
        (None, false) => ModelSuccessor::Nobody,
        (None, true) => {
            inner.report_fault("auto_remap", "`auto_remap` needs a `replacement` to map to");
            return None;
        }
    };
    Some(ModelDeprecation { starts_at, date: date?, removes_at: removes_at?, successor })
}

/// Resolves the workflow path relative to the file that names it.
fn read_workflow(reader: &TableReader<'_>) -> Option<WorkflowFile> {
    let path = reader.path("workflow")?;
    let origin = reader.origin_of("workflow");
    let named_at = origin.to_string();
    let SettingOrigin::File { path: file, .. } = origin else {
        return Some(WorkflowFile { path, named_at });
    };
    let folder = Path::new(&**file).parent().unwrap_or(Path::new(""));
    Some(WorkflowFile { path: folder.join(path), named_at })
}

fn read_routes(reader: &TableReader<'_>, id: Option<&str>, providers: &[&str]) -> Vec<ModelRoute> {
    let further = reader.table_readers("also", ROUTE_KEYS);
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
                place.report_fault("provider", message);
            }
            Some(ModelRoute {
                provider,
                upstream_id: upstream_id.or_else(|| id.map(str::to_owned))?,
                weight: weight.and_then(NonZeroU32::new)?,
            })
        })
        .collect()
}
