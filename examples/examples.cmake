# The examples, by folder and program.
set(examples own_law own_stepper control_loop observer)
