//! Elements of any box of an array that is open, read and written by programs.

use rechunk_array::{Array, RegionError, RegionOptions};
use rechunk_grid::Region;
use rechunk_store::Role;

use crate::Error;
use crate::chunk_keys;
use crate::element::Element;
use crate::open::OpenArray;

impl OpenArray {
    /// Returns the array with other limits for reading and writing regions.
    #[must_use]
    pub fn with_region_options(self, region_options: RegionOptions) -> Self {
        Self { region_options, ..self }
    }

    /// Reads the elements of `region` in C order and native byte order. Fixed-size strings, records
    /// and raw bits are the bytes that are stored; elements that differ in length are refused.
    ///
    /// Missing chunks read as the fill value, unless chunks lie under other keys than the metadata
    /// says: these are read, as in a copy. Only chunks that meet the region are fetched, in
    /// shards only the chunks inside; requests are counted by the meter of the [`Stores`] that the
    /// array was opened with. Chunks on their way take no more than
    /// [`RegionOptions::memory_bytes`] together.
    ///
    /// [`Stores`]: crate::Stores
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let location = folder.path().display().to_string();
    /// # std::fs::write(folder.path().join(".zarray"), r#"{"zarr_format": 2, "shape": [4, 6],
    /// #     "chunks": [2, 3], "dtype": "<f4", "compressor": null, "filters": null,
    /// #     "fill_value": 1.5, "order": "C"}"#)?;
    /// use rechunk::{OpenOptions, Stores, open_array};
    ///
    /// let array = open_array(&location, &OpenOptions::default(), &Stores::default()).await?;
    /// let bytes = array.read_region([1..3, 0..6]).await?;
    /// assert_eq!(bytes.len(), 2 * 6 * size_of::<f32>());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn read_region(&self, region: impl Into<Region>) -> Result<Vec<u8>, Error> {
        self.elements(&region.into()).await
    }

    /// Reads as [`OpenArray::read_region`] does into a buffer of exactly the bytes of the region.
    /// After an error it may hold some elements.
    pub async fn read_region_into(
        &self,
        region: impl Into<Region>,
        buffer: &mut [u8],
    ) -> Result<(), Error> {
        self.read_elements(&region.into(), buffer).await
    }

    /// Reads the elements of `region` in C order as values of a type. Refused if the array has
    /// another.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let location = folder.path().display().to_string();
    /// # std::fs::write(folder.path().join(".zarray"), r#"{"zarr_format": 2, "shape": [4, 6],
    /// #     "chunks": [2, 3], "dtype": "<f4", "compressor": null, "filters": null,
    /// #     "fill_value": 1.5, "order": "C"}"#)?;
    /// use rechunk::{OpenOptions, Stores, open_array};
    ///
    /// let array = open_array(&location, &OpenOptions::default(), &Stores::default()).await?;
    /// assert_eq!(array.read_region_as::<f32>([1..2, 4..6]).await?, [1.5, 1.5]);
    /// assert!(array.read_region_as::<u16>([1..2, 4..6]).await.is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn read_region_as<T: Element>(
        &self,
        region: impl Into<Region>,
    ) -> Result<Vec<T>, Error> {
        self.check_type::<T>()?;
        self.elements(&region.into()).await
    }

    /// Writes `elements`, in C order and native byte order, as those of `region`.
    ///
    /// Chunks that lie in the region, or shards where there are some, are written directly. One
    /// that the region cuts through is read, changed and written back, so two writers of one chunk
    /// at the same time lose what one of them wrote. Every object is replaced as a whole: after an
    /// error some are new, and the others as they were. A chunk that then holds nothing but the
    /// fill value is removed, as [`RegionOptions::write_empty`] has it.
    ///
    /// Refused for what is only read: references, ZIP files, HTTP servers, `.npy` and NIfTI files,
    /// and an array that was opened as a region or as another type.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let location = folder.path().display().to_string();
    /// # std::fs::write(folder.path().join(".zarray"), r#"{"zarr_format": 2, "shape": [2, 3],
    /// #     "chunks": [2, 2], "dtype": "<i2", "compressor": null, "filters": null,
    /// #     "fill_value": 7, "order": "C"}"#)?;
    /// use rechunk::{OpenOptions, Stores, open_array};
    ///
    /// let array = open_array(&location, &OpenOptions::default(), &Stores::default()).await?;
    /// let elements: Vec<u8> = [1_i16, 2].into_iter().flat_map(i16::to_ne_bytes).collect();
    /// array.write_region([0..1, 1..3], &elements).await?;
    /// assert_eq!(array.read_region_as::<i16>([0..2, 0..3]).await?, [7, 1, 2, 7, 7, 7]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn write_region(
        &self,
        region: impl Into<Region>,
        elements: &[u8],
    ) -> Result<(), Error> {
        let region = region.into();
        let written =
            self.writable().await?.write_region(&region, elements, &self.region_options).await;
        written.map_err(|source| Error::WriteRegion {
            location: self.location.clone(),
            source: Box::new(source),
        })
    }

    /// Writes values of a type as the elements of `region`, as [`OpenArray::write_region`] does.
    /// Refused if the array has another type.
    pub async fn write_region_as<T: Element>(
        &self,
        region: impl Into<Region>,
        elements: &[T],
    ) -> Result<(), Error> {
        self.check_type::<T>()?;
        self.write_region(region, bytemuck::cast_slice(elements)).await
    }

    /// Reads `region` into a buffer that is made for it.
    async fn elements<T: Element>(&self, region: &Region) -> Result<Vec<T>, Error> {
        let (array, options) = (self.readable()?, &self.region_options);
        let bytes = array.region_bytes(region, options).map_err(|error| self.not_read(error))?;
        let count = usize::try_from(bytes).unwrap_or(usize::MAX) / size_of::<T>();
        let mut elements: Vec<T> = Vec::new();
        elements.try_reserve_exact(count).map_err(|_| {
            let (array, limit) = (self.location.clone(), options.returned_bytes_max);
            self.not_read(RegionError::TooLarge {
                array,
                needed_bytes: bytes,
                returned_bytes_max: limit,
            })
        })?;
        elements.resize(count, T::zeroed());
        self.read_elements(region, bytemuck::cast_slice_mut(&mut elements)).await?;
        Ok(elements)
    }

    /// Reads `region` into `buffer`; again, if chunks are missing and lie under other keys.
    async fn read_elements(&self, region: &Region, buffer: &mut [u8]) -> Result<(), Error> {
        let (array, options) = (self.readable()?, &self.region_options);
        let known = self.settled.get().and_then(Option::as_ref);
        let read = known.unwrap_or(array).read_region_into(region, buffer, options).await;
        let are_all_there = read.map_err(|error| self.not_read(error))?;
        if are_all_there || self.settled.initialized() {
            return Ok(());
        }
        let Some(array) = self.under_other_keys().await? else { return Ok(()) };
        let read = array.read_region_into(region, buffer, options).await;
        read.map(|_| ()).map_err(|error| self.not_read(error))
    }

    /// The array with the keys that its chunks have, if its metadata says others. Looked for once.
    async fn under_other_keys(&self) -> Result<Option<&Array>, Error> {
        let look = async || {
            let (open, said) = Box::pin(chunk_keys::settled(self.clone())).await?;
            Ok(said.map(|said| {
                tracing::warn!("{}: {said}", self.location);
                open.array
            }))
        };
        self.settled.get_or_try_init(look).await.map(Option::as_ref)
    }

    /// The array, if its chunks can be read where they are.
    fn readable(&self) -> Result<&Array, Error> {
        if self.packed.is_none() {
            return Ok(&self.array);
        }
        Err(Error::Usage {
            message: format!("regions of {} are not read: it is a compressed file", self.location),
            hint: Some("unpack it, or copy it to an array with chunks first".into()),
        })
    }

    /// The array to be written to, if it is open as it is stored.
    async fn writable(&self) -> Result<Array, Error> {
        let declared = self.readable()?;
        let is_view = self.region.is_some()
            || self.cast.is_some()
            || self.recount.is_some()
            || !self.left_out.is_empty()
            || self.is_carried;
        if is_view {
            return Err(Error::Usage {
                message: format!(
                    "{} is only read: it was opened as a region, or as another type",
                    self.location
                ),
                hint: Some("open all of it, as it is stored".into()),
            });
        }
        let array = self.under_other_keys().await?.unwrap_or(declared);
        Ok(array.with_store(array.store().with_role(Role::Target)))
    }

    fn check_type<T: Element>(&self) -> Result<(), Error> {
        let data_type = self.spec().data_type;
        if T::holds(data_type) {
            return Ok(());
        }
        Err(Error::Usage {
            message: format!(
                "the elements of {} are {data_type}, and not {}",
                self.location,
                T::NAME
            ),
            hint: Some("ask for their own type, or for their bytes with `read_region`".into()),
        })
    }

    fn not_read(&self, source: RegionError) -> Error {
        Error::ReadRegion { location: self.location.clone(), source: Box::new(source) }
    }
}
