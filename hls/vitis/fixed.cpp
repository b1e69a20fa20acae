$title

$settings
$includes

$body
