$run

extern "C" void $name(
    $parameters)
{
    $interfaces
    const ft_beat_slab slab = ft_beat_slab_of<LANES>(n, ft_unit, ft_units);
    const ft_input_use<$inputs> inputs = {$masks};
    const members of = {$scalars};
    $body
}
