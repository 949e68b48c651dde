//! The engine of graphics processors: the arrays of a run on a device, and programs as compute pipelines.
//!
//! All buffers of a kind lie in one array, so a bind group of three serves every kernel of a run; it is made once, like
//! the pipelines. Nothing here waits but [`Arrays::download`] and [`Gpu::finish`], which only native programs and tests
//! call.

use std::sync::mpsc;

/// What was handed to a device at once.
pub use wgpu::SubmissionIndex as Submission;

use super::graph::{BufferInfo, Buffers, Content, Doubles, Ints, Plan, Reals, Singles, Words};
use super::memory::{Array, Memory, array_of};
use super::program::{Program, Step};

/// A device and what all its programs share.
#[derive(Debug)]
pub struct Gpu {
    device: wgpu::Device,
    queue: wgpu::Queue,
    layout: wgpu::BindGroupLayout,
    pipelines: wgpu::PipelineLayout,
    /// What the system calls it.
    pub name: String,
}

/// Why there is no device.
#[derive(Debug, thiserror::Error)]
pub enum NoGpu {
    /// The system has no adapter.
    #[error("This system offers no graphics processor to compute on: {0}")]
    Adapter(#[from] wgpu::RequestAdapterError),
    /// The adapter gave no device.
    #[error("The graphics processor does not let itself be used: {0}")]
    Device(#[from] wgpu::RequestDeviceError),
}

/// An array of a run is larger than one may be on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an array of {bytes} bytes is needed, where {most} are the most")]
pub struct TooLarge {
    /// What is needed.
    pub bytes: u64,
    /// What there may be.
    pub most: u64,
}

/// The arrays of a run.
#[derive(Debug)]
pub struct Arrays {
    /// Reals, words, integers.
    buffers: [wgpu::Buffer; 3],
    group: wgpu::BindGroup,
    memory: Memory,
}

/// A program's pipelines.
#[derive(Debug)]
pub struct Compiled {
    steps: Vec<CompiledStep>,
}

#[derive(Debug)]
enum CompiledStep {
    Dispatch { pipeline: wgpu::ComputePipeline, groups: u32 },
    Repeat { count: u32, steps: Vec<Self> },
}

impl Gpu {
    /// The first device there is, with the limits that every device has.
    pub async fn open() -> Result<Self, NoGpu> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let adapter = instance.request_adapter(&wgpu::RequestAdapterOptions::default()).await?;
        // Of memory as much as the adapter has, of everything else what is guaranteed.
        let (has, guaranteed) = (adapter.limits(), wgpu::Limits::default());
        let required_limits = wgpu::Limits {
            max_buffer_size: has.max_buffer_size.max(guaranteed.max_buffer_size),
            max_storage_buffer_binding_size: has
                .max_storage_buffer_binding_size
                .max(guaranteed.max_storage_buffer_binding_size),
            ..guaranteed
        };
        let descriptor = wgpu::DeviceDescriptor { required_limits, ..wgpu::DeviceDescriptor::default() };
        let (device, queue) = adapter.request_device(&descriptor).await?;
        let entry = |binding| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Storage { read_only: false },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        };
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: None,
            entries: &[entry(0), entry(1), entry(2)],
        });
        let pipelines = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        Ok(Self { name: adapter.get_info().name, device, queue, layout, pipelines })
    }

    /// The pipelines of `program`.
    pub fn compile(&self, program: &Program) -> Compiled {
        Compiled { steps: self.compile_steps(&program.steps) }
    }

    fn compile_steps(&self, steps: &[Step]) -> Vec<CompiledStep> {
        let compile = |step: &Step| match step {
            Step::Repeat { count, steps } => CompiledStep::Repeat { count: *count, steps: self.compile_steps(steps) },
            Step::Dispatch(dispatch) => {
                let source = wgpu::ShaderSource::Wgsl(dispatch.source.as_str().into());
                let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
                let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                    label: Some(&dispatch.kernels.join(" ")),
                    layout: Some(&self.pipelines),
                    module: &module,
                    entry_point: Some("main"),
                    compilation_options: wgpu::PipelineCompilationOptions {
                        // Every place is written before it is read.
                        zero_initialize_workgroup_memory: false,
                        ..wgpu::PipelineCompilationOptions::default()
                    },
                    cache: None,
                });
                CompiledStep::Dispatch { pipeline, groups: dispatch.groups }
            }
        };
        steps.iter().map(compile).collect()
    }

    /// Hands the device `program`, so many times, as one submission.
    pub fn run(&self, arrays: &Arrays, program: &Compiled, times: u32) -> Submission {
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_bind_group(0, &arrays.group, &[]);
            (0..times).for_each(|_| encode(&mut pass, &program.steps));
        }
        self.queue.submit([encoder.finish()])
    }

    /// Waits until a submission is done, or all of them are.
    pub fn finish(&self, submission: Option<Submission>) {
        let wait = wgpu::PollType::Wait { submission_index: submission, timeout: None };
        // What cannot be waited for is lost, which reading back will tell.
        let _ = self.device.poll(wait);
    }
}

fn encode(pass: &mut wgpu::ComputePass<'_>, steps: &[CompiledStep]) {
    for step in steps {
        match step {
            CompiledStep::Dispatch { pipeline, groups } => {
                pass.set_pipeline(pipeline);
                pass.dispatch_workgroups(*groups, 1, 1);
            }
            CompiledStep::Repeat { count, steps } => (0..*count).for_each(|_| encode(pass, steps)),
        }
    }
}

impl Arrays {
    /// Arrays for everything in `memory`, with the numbers that kernels look up.
    pub fn new(gpu: &Gpu, memory: Memory) -> Result<Self, TooLarge> {
        let limits = gpu.device.limits();
        let most = limits.max_buffer_size.min(limits.max_storage_buffer_binding_size);
        // An array of nothing cannot be bound.
        let bytes = memory.lens.map(|len| 4 * u64::from(len.max(1)));
        if let Some(&bytes) = bytes.iter().find(|&&bytes| bytes > most) {
            return Err(TooLarge { bytes, most });
        }
        let buffers = bytes.map(|size| {
            gpu.device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size,
                usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        });
        let entries: Vec<_> = (0..)
            .zip(&buffers)
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect();
        let group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &gpu.layout,
            entries: &entries,
        });
        let arrays = Self { buffers, group, memory };
        for (place, table) in &arrays.memory.words {
            arrays.write(gpu, Array::Words, *place, table.iter().copied());
        }
        for (place, table) in &arrays.memory.reals {
            arrays.write(gpu, Array::Reals, *place, table.iter().map(|number| number.to_bits()));
        }
        Ok(arrays)
    }

    fn write(&self, gpu: &Gpu, array: Array, place: u32, words: impl Iterator<Item = u32>) {
        let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
        gpu.queue.write_buffer(&self.buffers[array as usize], 4 * u64::from(place), &bytes);
    }

    /// Puts the numbers of `buffers` on the device.
    pub fn upload(&self, gpu: &Gpu, plan: &Plan, buffers: &Buffers<f32>) {
        let places = |kind: u8, infos: &[BufferInfo]| (0..infos.len() as u32).map(move |index| (kind, index));
        for (kind, index) in places(Reals::KIND, Reals::infos(plan)) {
            let len = Reals::infos(plan)[index as usize].len();
            let numbers = buffers.stored::<Reals>(index);
            let numbers = &numbers[..len];
            self.write(gpu, array_of(kind), self.memory.place((kind, index)), numbers.iter().map(|x| x.to_bits()));
        }
        for (kind, index) in places(Words::KIND, Words::infos(plan)) {
            let len = Words::infos(plan)[index as usize].len();
            let numbers = buffers.stored::<Words>(index);
            let numbers = &numbers[..len];
            self.write(gpu, array_of(kind), self.memory.place((kind, index)), numbers.iter().copied());
        }
        for (kind, index) in places(Ints::KIND, Ints::infos(plan)) {
            let len = Ints::infos(plan)[index as usize].len();
            let numbers = buffers.stored::<Ints>(index);
            let numbers = &numbers[..len];
            self.write(gpu, array_of(kind), self.memory.place((kind, index)), numbers.iter().map(|&x| x as u32));
        }
        for (kind, index) in places(Doubles::KIND, Doubles::infos(plan)) {
            let len = Doubles::infos(plan)[index as usize].len();
            let numbers = buffers.stored::<Doubles>(index);
            let numbers = &numbers[..len];
            let singles = numbers.iter().map(|&x| (x as f32).to_bits());
            self.write(gpu, array_of(kind), self.memory.place((kind, index)), singles);
        }
        for (kind, index) in places(Singles::KIND, Singles::infos(plan)) {
            let len = Singles::infos(plan)[index as usize].len();
            let numbers = buffers.stored::<Singles>(index);
            let numbers = &numbers[..len];
            self.write(gpu, array_of(kind), self.memory.place((kind, index)), numbers.iter().map(|x| x.to_bits()));
        }
    }

    /// The numbers of all buffers of `plan`, when everything submitted is done. Waits.
    pub fn download(&self, gpu: &Gpu, plan: &Plan, buffers: &Buffers<f32>) {
        let arrays = [Array::Reals, Array::Words, Array::Ints].map(|array| self.read(gpu, array));
        let words = |kind: u8, index: u32, len: usize| {
            let from = self.memory.place((kind, index)) as usize;
            arrays[array_of(kind) as usize][from..from + len].iter().copied()
        };
        for index in 0..Reals::infos(plan).len() as u32 {
            let mut numbers = buffers.stored_mut::<Reals>(index);
            // Working space grows beyond its plan.
            let read = words(Reals::KIND, index, Reals::infos(plan)[index as usize].len());
            numbers.iter_mut().zip(read).for_each(|(to, word)| *to = f32::from_bits(word));
        }
        for index in 0..Words::infos(plan).len() as u32 {
            let mut numbers = buffers.stored_mut::<Words>(index);
            let read = words(Words::KIND, index, numbers.len());
            numbers.iter_mut().zip(read).for_each(|(to, word)| *to = word);
        }
        for index in 0..Ints::infos(plan).len() as u32 {
            let mut numbers = buffers.stored_mut::<Ints>(index);
            let read = words(Ints::KIND, index, numbers.len());
            numbers.iter_mut().zip(read).for_each(|(to, word)| *to = word as i32);
        }
        for index in 0..Doubles::infos(plan).len() as u32 {
            let mut numbers = buffers.stored_mut::<Doubles>(index);
            let read = words(Doubles::KIND, index, numbers.len());
            numbers.iter_mut().zip(read).for_each(|(to, word)| *to = f64::from(f32::from_bits(word)));
        }
    }

    fn read(&self, gpu: &Gpu, array: Array) -> Vec<u32> {
        let from = &self.buffers[array as usize];
        let staging = gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: from.size(),
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(from, 0, &staging, 0, from.size());
        gpu.queue.submit([encoder.finish()]);
        let (sender, receiver) = mpsc::channel();
        staging.map_async(wgpu::MapMode::Read, .., move |result| {
            // Who asked may be gone.
            let _ = sender.send(result);
        });
        gpu.finish(None);
        let mapped = receiver.recv().is_ok_and(|result| result.is_ok());
        let words = |bytes: &[u8]| {
            let words = bytes.as_chunks::<4>().0.iter();
            words.map(|&bytes| u32::from_le_bytes(bytes)).collect()
        };
        if mapped && let Ok(view) = staging.get_mapped_range(..) { words(&view) } else { Vec::new() }
    }
}
