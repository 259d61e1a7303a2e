//! Folders that are there already, and become known data sets.

use std::collections::BTreeSet;

use rechunk_image::{BdvDataset, read_bdv_xml};
use rechunk_n5::{ATTRIBUTES_KEY, N5Metadata, parse_dataset};

use crate::changing::Changing;
use crate::documents::n5::{XML_KEY, array_path, container_key};
use crate::new_dataset::{check, clean_label};
use crate::places::COMMON_METADATA;
use crate::record::{copy_record, recorded};
use crate::register::Edit;
use crate::{Dataset, Datastore, DatastoreError, Level, Storage, check_dataset_id};

/// Largest document that is read, bytes.
const DOCUMENT_BYTES_MAX: u64 = 256 << 20;
/// Most levels that are looked for.
const LEVELS_MAX: usize = 32;

/// A data set as its folder says it is.
pub(crate) struct Found {
    pub dataset: Dataset,
    pub versions: Vec<u64>,
    pub common_metadata: String,
}

impl Datastore {
    /// Makes a folder that is there a known data set. Its record is read, or, of a folder of
    /// another program, made of the documents of its highest version.
    pub async fn register(&self, id: &str) -> Result<(), DatastoreError> {
        check_dataset_id(id)?;
        let mut change = self.change().await?;
        if change.find(id).await?.is_some() {
            return Err(DatastoreError::Exists(format!("the data set {id} is known already")));
        }
        let found = self.found(id).await?;
        self.enter(&mut change, found).await?;
        change.end().await
    }

    /// Has the register know a data set that was found, in place of any of its name.
    pub(crate) async fn enter(
        &self,
        change: &mut Changing<'_>,
        found: Found,
    ) -> Result<(), DatastoreError> {
        let Found { dataset, versions, common_metadata } = found;
        let id = dataset.uuid.clone();
        copy_record(&self.root, &dataset).await?;
        let dataset = Box::new(dataset);
        change.edit(Edit::Enter { dataset, versions, common_metadata }).await?;
        change.commit().await?;
        change.forget(&id);
        Ok(())
    }

    /// The data set that is in the folder `id`.
    pub(crate) async fn found(&self, id: &str) -> Result<Found, DatastoreError> {
        check_dataset_id(id)?;
        let versions = self.folders_of(id).await?;
        let Some(latest) = versions.last() else {
            return Err(DatastoreError::Unknown(format!("there is no folder {id} of a data set")));
        };
        let dataset = match recorded(&self.root, id).await? {
            Some(dataset) => dataset,
            None => self.described(id, *latest).await?,
        };
        let dataset = Dataset { uuid: id.to_owned(), ..dataset };
        check(&dataset)?;
        let place = format!("{id}/{COMMON_METADATA}");
        let text = self.document(&place).await?.unwrap_or_default();
        let common_metadata = String::from_utf8(text)
            .map_err(|error| DatastoreError::Damaged { place, reason: error.to_string() })?;
        Ok(Found { dataset, versions, common_metadata })
    }

    async fn document(&self, place: &str) -> Result<Option<Vec<u8>>, DatastoreError> {
        let found = self.root.get(place, DOCUMENT_BYTES_MAX).await?;
        Ok(found.map(|bytes| bytes.to_vec()))
    }

    /// The data set that the documents of a version describe.
    async fn described(&self, id: &str, version: u64) -> Result<Dataset, DatastoreError> {
        let folder = format!("{id}/{version}");
        let xml = self.document(&format!("{folder}/{XML_KEY}")).await?;
        let text = xml.as_deref().map(String::from_utf8_lossy);
        let bdv = text.as_deref().and_then(read_bdv_xml);
        let Some(bdv) = bdv.filter(|_| xml.is_some()) else {
            let reason = format!("{folder}/{XML_KEY} of a data set is not there, or not readable");
            return Err(DatastoreError::Unknown(reason));
        };
        let timepoint_ids = self.timepoints(&folder).await?;
        let (mut levels, mut finest) = (Vec::new(), None);
        for number in 0..LEVELS_MAX {
            let time = timepoint_ids.first().copied().unwrap_or(0);
            let place = format!("{folder}/{}/{ATTRIBUTES_KEY}", array_path(0, time, number));
            let Some(document) = self.document(&place).await? else { break };
            let metadata = parse_dataset(&document)
                .map_err(|error| DatastoreError::Damaged { place, reason: error.to_string() })?;
            let Some(metadata) = metadata else { break };
            levels.push(level(&metadata)?);
            finest.get_or_insert(metadata);
        }
        let Some(finest) = finest else {
            let reason = format!("{folder} has no array of a setup at its first timepoint");
            return Err(DatastoreError::Unknown(reason));
        };
        let (channels, angles) = counts(&bdv);
        let setup = bdv.setups.first();
        Ok(Dataset {
            uuid: id.to_owned(),
            voxel_type: finest.data_type.name().to_owned(),
            dimensions: setup.map_or([1; 3], |setup| setup.size_xyz),
            timepoint_ids,
            channels,
            angles,
            transformations: None,
            voxel_unit: setup.map(|setup| setup.unit.clone()),
            voxel_resolution: setup.map(|setup| setup.voxel_size_xyz),
            timepoint_resolution: None,
            channel_resolution: None,
            angle_resolution: None,
            compression: finest.compression.name().to_owned(),
            storage: Storage::N5,
            resolution_levels: levels,
            label: self.label(id).await?,
        })
    }

    /// Numbers of the timepoints of the first setup, lowest first.
    async fn timepoints(&self, folder: &str) -> Result<Vec<u64>, DatastoreError> {
        let container = container_key();
        let container = container.strip_suffix(ATTRIBUTES_KEY).unwrap_or(&container);
        let setup = format!("{folder}/{container}setup0");
        let names = self.root.list_directories(&setup).await?;
        let number = |name: &String| name.strip_prefix("timepoint")?.parse().ok();
        let ids: BTreeSet<u64> = names.iter().filter_map(number).collect();
        Ok(ids.into_iter().collect())
    }

    /// The label: upstream's servers keep it as the name of an empty file.
    async fn label(&self, id: &str) -> Result<Option<String>, DatastoreError> {
        let files = self.root.list_level(id).await?.files;
        let empty = files.iter().find(|file| file.bytes == 0);
        Ok(empty.map(|file| clean_label(&file.name)))
    }
}

/// A level by the attributes of its array.
fn level(metadata: &N5Metadata) -> Result<Level, DatastoreError> {
    let odd = |what: &str| DatastoreError::Unknown(format!("an array of the folder has {what}"));
    let block = metadata.block_size.as_slice().try_into();
    let block_dimensions = block.map_err(|_| odd("another number of axes than 3"))?;
    let factors = metadata.attributes.get("downsamplingFactors");
    let factors = factors.and_then(|factors| serde_json::from_value(factors.clone()).ok());
    let resolutions = factors.ok_or_else(|| odd("no downsamplingFactors"))?;
    Ok(Level { resolutions, block_dimensions, shard_dimensions: None })
}

/// Counts of channels and angles; setups are channels where they are not both.
fn counts(bdv: &BdvDataset) -> (u64, u64) {
    let count = |ids: BTreeSet<u64>| u64::try_from(ids.len()).unwrap_or(u64::MAX);
    let channels = count(bdv.setups.iter().map(|setup| setup.channel).collect());
    let angles = count(bdv.setups.iter().map(|setup| setup.angle).collect());
    let setups = count(bdv.setups.iter().map(|setup| setup.id).collect());
    if channels.saturating_mul(angles) == setups { (channels, angles) } else { (setups, 1) }
}
