"""An everyday scene as MJCF: the same bodies and friction, else MuJoCo's defaults."""


def numbers(values):
    return " ".join(f"{x:.15g}" for x in values)


def geom(shape, place, density, friction):
    kind = shape["type"]
    if kind == "plane":
        size = [50, 50, 1]
    elif kind == "box":
        size = [x / 2 for x in shape["size_m"]]
    elif kind == "sphere":
        size = [shape["radius_m"]]
    else:  # cylinder, capsule
        size = [shape["radius_m"], shape["length_m"] / 2]
    return (f'<geom type="{kind}" size="{numbers(size)}" {place} density="{density:g}" '
            f'friction="{friction:g} 0.005 0.0001"/>')


def to_mjcf(scene):
    """2 ms, elliptic cones; rotations as bristle has them: about fixed x, then y, then z."""
    lines = ["<mujoco>", '<compiler angle="degree" eulerseq="XYZ"/>',
             '<option timestep="0.002" cone="elliptic" gravity="0 0 -9.81"/>', "<worldbody>"]
    speeds = []
    for body in scene.bodies:
        fixed = body.get("fixed", False)
        density = body.get("density_kg_m3", 1000)
        place = (f'pos="{numbers(body.get("position_m", [0, 0, 0]))}" '
                 f'euler="{numbers(body.get("rotation_deg", [0, 0, 0]))}"')
        if not fixed:
            lines.append(f'<body name="{body["name"]}" {place}><freejoint/>')
            speeds += body.get("velocity_m_s", [0, 0, 0])
            speeds += body.get("angular_velocity_rad_s", [0, 0, 0])
        for shape in body["shapes"]:
            at = f'pos="{numbers(shape.get("position_m", [0, 0, 0]))}"'
            lines.append(geom(shape, at, density, scene.friction))
        if not fixed:
            lines.append("</body>")
    # The start of free bodies: velocities in world axes; angular ones in the body's, which
    # are the same where only bodies that stand straight have any.
    lines += ["</worldbody>", "<custom>",
              f'<numeric name="qvel" size="{len(speeds)}" data="{numbers(speeds)}"/>',
              "</custom>", "</mujoco>"]
    return "\n".join(lines) + "\n"
